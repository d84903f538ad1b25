import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A recorded incident as the repository keeps it, not parsed any further than JSON. */
export interface Incident {
  readonly file: string;
  readonly path: string;
  readonly json: unknown;
}

const FOLDERS = { cases: '../../../test/cases/', rules: '../../../test/cases/rules/' };

/**
 * Every transcript of one folder, in order of file names.
 *
 * @param folder `cases`: incidents as they were reported. `rules`: one transcript for each clause.
 */
export function incidents(folder: keyof typeof FOLDERS = 'cases'): readonly Incident[] {
  const url = new URL(FOLDERS[folder], import.meta.url);
  return readdirSync(url)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => {
      const path = fileURLToPath(new URL(file, url));
      return { file, path, json: JSON.parse(readFileSync(path, 'utf8')) as unknown };
    });
}

/**
 * What a test says about one connection; the rest is a GET of `/feed` that an empty stream, or a
 * WebSocket without a message, answers.
 */
export interface ConnectionPart {
  /** Default `sse`. */
  readonly transport?: 'sse' | 'websocket';
  readonly request?: Readonly<Record<string, unknown>>;
  readonly response?: Readonly<Record<string, unknown>>;
  readonly frames?: readonly Readonly<Record<string, unknown>>[];
  readonly ends?: string;
}

const ASKED = {
  sse: { accept: 'text/event-stream' },
  websocket: { upgrade: 'websocket' },
};
const ANSWERED = {
  sse: { status: 200, headers: { 'content-type': 'text/event-stream' } },
  websocket: { status: 101, headers: { upgrade: 'websocket' } },
};

/**
 * The JSON of a transcript with one connection for each part.
 *
 * @param parts Members given replace the default ones, `headers` as a whole.
 */
export function transcriptJson(...parts: readonly ConnectionPart[]): Record<string, unknown> {
  const connections = parts.map(({ transport = 'sse', request, response, frames, ends }) => ({
    transport,
    request: { method: 'GET', path: '/feed', headers: ASKED[transport], ...request },
    response: { ...ANSWERED[transport], ...response },
    frames: frames ?? [],
    ends: ends ?? 'eof',
  }));
  return { name: 'made-for-a-test', source: 'test', kind: 'test', connections };
}
