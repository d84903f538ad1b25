// Streams of one timeline lend each other a scanner between two chunks: none may notice.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { InStreamFinding, StreamConnection, StreamTimeline } from '../connection.ts';
import { createClientTimeline } from './client-timeline.ts';

const SEED = Number(process.env['SAMERIVER_SEED'] ?? 20_261_201);
const PARTS = [
  'id: 7\ndata: seven\n\n',
  'id: 8\ndata: eight\n\n',
  'id: 900719925474099\ndata: long\n\n',
  'id: a-1\ndata: opaque\n\n',
  'id\ndata: cleared\n\n',
  'id: 9\n\n',
  'id: 6\r\ndata: six\r\n\r\n',
  'id: 5\rdata: five\r\r',
  'data: without id\n\n',
  'data: begun\n',
  'retry: 5\n',
  ': a comment\n',
  'event: stream-continuity\ndata: {"received":"1"}\n\n',
  '\uFEFF',
  '\n',
];

type Told = { readonly events: number; readonly repeated: number; readonly cursor: unknown };

class Reader {
  readonly timeline: StreamTimeline;
  readonly findings = new Map<StreamConnection, InStreamFinding[]>();
  readonly cursors = new Map<StreamConnection, unknown>();

  constructor() {
    this.timeline = createClientTimeline({
      observer: {
        settled: () => undefined,
        revised: () => undefined,
        inStream: (at, finding) => this.findings.set(at, [...this.found(at), finding]),
        ended: (at, _, [report]) => this.cursors.set(at, report?.lastCursor),
      },
    });
  }

  open(path: number): StreamConnection {
    const target = `/${path}`;
    const header = (): undefined => undefined;
    const request = { transport: 'sse', method: 'GET', origin: 'http://a.test', target } as const;
    const connection = this.timeline.open({ ...request, header }, 0);
    connection.response(200, () => 'text/event-stream');
    return connection;
  }

  end(connection: StreamConnection): Told & { readonly findings: readonly InStreamFinding[] } {
    connection.end('reset', 1);
    const { events, repeated } = connection;
    const cursor = this.cursors.get(connection);
    return { events, repeated, cursor, findings: this.found(connection) };
  }

  found(connection: StreamConnection): readonly InStreamFinding[] {
    return this.findings.get(connection) ?? [];
  }
}

const chunks = fc.array(
  fc.tuple(fc.nat(2), fc.array(fc.constantFrom(...PARTS), { maxLength: 4 }), fc.nat(12)),
  { maxLength: 20 },
);

it('reads streams whose chunks come in turns as it reads each of them alone', () => {
  const encoder = new TextEncoder();
  const property = fc.property(chunks, (arriving) => {
    const together = new Reader();
    const open = [0, 1, 2].map((path) => together.open(path));
    const kept = open.map(() => '');
    const read = open.map(() => '');
    for (const [at, parts, heldBack] of arriving) {
      const text = (kept[at] ?? '') + parts.join('');
      const now = text.slice(0, Math.max(0, text.length - heldBack));
      kept[at] = text.slice(now.length);
      read[at] += now;
      open[at]?.push(encoder.encode(now));
    }
    const told = open.map((connection) => together.end(connection));
    const alone = read.map((text, path) => {
      const reader = new Reader();
      const connection = reader.open(path);
      if (text !== '') connection.push(encoder.encode(text));
      return reader.end(connection);
    });
    expect(told).toEqual(alone);
  });
  fc.assert(property, { numRuns: 500, seed: SEED });
});
