import { expect, test } from 'vitest';
import type { StreamObserver, StreamTimeline } from '../connection.ts';
import { createServerTimeline } from '../server/server-timeline.ts';
import { createClientTimeline } from './client-timeline.ts';

type Create = (options: { readonly observer: StreamObserver }) => StreamTimeline;

/** Verdicts of one stream; each connection is its cursor and the numbers it is sent, by which log. */
function verdictsOf(
  create: Create,
  connections: readonly (readonly [
    cursor: number | undefined,
    log: string,
    ids: readonly number[],
  ])[],
): (string | undefined)[] {
  const verdicts: (string | undefined)[] = [];
  const timeline = create({
    observer: {
      settled: (_, { verdict }) => verdicts.push(verdict?.reason),
      revised: (_, { verdict }) => verdicts.push(`revised ${verdict?.reason}`),
      inStream: () => {},
      ended: () => {},
    },
  });
  connections.forEach(([cursor, log, ids], at) => {
    const fields: Record<string, string | undefined> = {
      accept: 'text/event-stream',
      'last-event-id': cursor === undefined ? undefined : String(cursor),
    };
    const request = {
      transport: 'sse',
      method: 'GET',
      origin: 'http://test',
      target: '/feed',
      header: (name: string) => fields[name],
    } as const;
    const connection = timeline.open(request, at);
    connection.response(200, (name) => (name === 'content-type' ? 'text/event-stream' : undefined));
    for (const id of ids) connection.push(Buffer.from(`id: ${id}\ndata: ${log} ${id}\n\n`));
    connection.end('reset', at);
  });
  return verdicts;
}

const RESTARTED = [
  [undefined, 'old', [1, 2, 3, 4, 5, 6]],
  [6, 'new', [1, 2]],
  [2, 'new', [3, 4]],
  [4, 'new', [5, 6]],
] as const;

test('R8: a log that was found to have begun anew is not held to the ids of the one before it', () => {
  expect(verdictsOf(createClientTimeline, RESTARTED)).toEqual([
    undefined,
    'cursor_not_advanced',
    'no_epoch',
    'no_epoch',
  ]);
});

test('R8: an id that the new log itself uses twice is still found', () => {
  const twice = [...RESTARTED.slice(0, 3), [2, 'third', [3]]] as const;
  expect(verdictsOf(createClientTimeline, twice).at(-1)).toBe('id_reused');
});

test('V6: a server says once that an id stands for another event, and of no later reader', () => {
  const said = verdictsOf(createServerTimeline, RESTARTED);
  expect(said[1]).toBe('cursor_not_advanced');
  expect(said.slice(2)).not.toContain('id_reused');
});
