import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { addUndiciFile } from './client/undici-classes.ts';
import { addWsFile } from './ws-copies.ts';

/** A package whose classes are watched. All of them are CommonJS, also for who imports them. */
interface Library {
  readonly name: string;
  /** The major versions that are known. */
  readonly majors: readonly number[];
  /** A file of the package that is loaded wherever the package is; its folder ends before it. */
  readonly file: RegExp;
  add(file: string, exports: unknown): void;
}

const LIBRARIES: readonly Library[] = [
  {
    name: 'ws',
    majors: [7, 8],
    file: /[\\/]lib[\\/](?:websocket|websocket-server|sender)\.js$/,
    add: addWsFile,
  },
  {
    name: 'undici',
    majors: [6, 7, 8],
    file: /[\\/]lib[\\/]web[\\/]websocket[\\/]websocket\.js$/,
    add: addUndiciFile,
  },
];

/**
 * Finds the copies of `ws` and `undici` that the process loaded before anybody watched. A module
 * hook hears only of what is loaded after it, and one of the ESM loader would have to be there
 * before the application's first import; whoever imports these packages loads their CommonJS files,
 * and those stand in `require.cache`.
 */
export function addLoadedCopies(): void {
  const { cache } = createRequire(import.meta.url);
  for (const path of Object.keys(cache)) {
    // Thousands of modules may be loaded: most are told by their last letter.
    if (!path.endsWith('er.js') && !path.endsWith('websocket.js')) continue;
    const library = LIBRARIES.find(({ file }) => file.test(path));
    const loaded = cache[path];
    if (library === undefined || loaded === undefined || !loaded.loaded) continue;
    if (isOf(library, path)) library.add(fileName(path), loaded.exports);
  }
}

function isOf({ name, majors, file }: Library, path: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path.replace(file, '/package.json'), 'utf8'));
    if (typeof manifest !== 'object' || manifest === null) return false;
    const { name: found, version } = manifest as { name?: unknown; version?: unknown };
    return found === name && majors.includes(Number.parseInt(String(version), 10));
  } catch {
    // A file of the same name in a package of its own making.
    return false;
  }
}

function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
