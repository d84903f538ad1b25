import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A recorded incident as the repository keeps it, not parsed any further than JSON. */
export interface Incident {
  readonly file: string;
  readonly path: string;
  readonly json: unknown;
}

const FOLDER = new URL('../../../test/cases/', import.meta.url);

/** Every transcript of `test/cases`, in order of file names. */
export function incidents(): readonly Incident[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => {
      const path = fileURLToPath(new URL(file, FOLDER));
      return { file, path, json: JSON.parse(readFileSync(path, 'utf8')) as unknown };
    });
}

/** What a test says about one connection; the rest is a GET of `/feed` answered by an empty stream. */
export interface ConnectionPart {
  readonly request?: Readonly<Record<string, unknown>>;
  readonly response?: Readonly<Record<string, unknown>>;
  readonly frames?: readonly Readonly<Record<string, unknown>>[];
  readonly ends?: string;
}

/**
 * The JSON of an SSE transcript with one connection for each part.
 *
 * @param parts Members given replace the default ones, `headers` as a whole.
 */
export function transcriptJson(...parts: readonly ConnectionPart[]): Record<string, unknown> {
  const connections = parts.map(({ request, response, frames, ends }) => ({
    transport: 'sse',
    request: { method: 'GET', path: '/feed', headers: { accept: 'text/event-stream' }, ...request },
    response: { status: 200, headers: { 'content-type': 'text/event-stream' }, ...response },
    frames: frames ?? [],
    ends: ends ?? 'eof',
  }));
  return { name: 'made-for-a-test', source: 'test', kind: 'test', connections };
}
