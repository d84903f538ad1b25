import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Position } from './ground-truth.ts';

/** Events that a log holds for those who come back. */
const RING = 64;

/** One log of events in one incarnation, numbered from 1. */
export class Feed {
  readonly log: string;
  #last = 0;

  constructor(log: string) {
    this.log = log;
  }

  get last(): number {
    return this.#last;
  }

  publish(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Numbers after `cursor` that are still held, `undefined` when one of them is not. */
  after(cursor: number): number[] | undefined {
    if (cursor > this.#last || this.#last - cursor > RING) return undefined;
    return Array.from({ length: this.#last - cursor }, (_, i) => cursor + 1 + i);
  }
}

export function eventText({ log, n }: Position): string {
  return `id: ${n}\ndata: {"log":"${log}","n":${n}}\n\n`;
}

/** Positions in the text of a stream, in order; a last event that is cut is left out. */
export function positionsIn(text: string): Position[] {
  return [...text.matchAll(/^data: (\{.*\})\n\n/gm)].map(
    ([, data = '']) => JSON.parse(data) as Position,
  );
}

export function cursorOf(request: IncomingMessage): number | undefined {
  const cursor = request.headers['last-event-id'];
  return cursor === undefined ? undefined : Number(cursor);
}

/**
 * Opens an answer that may name its log.
 *
 * @param from The cursor that the server honours, which it then says as well.
 */
export function openStream(
  response: ServerResponse,
  stamp: string | undefined,
  from?: number | undefined,
): void {
  const echo = from === undefined ? '' : `, status=resumed, from="${from}"`;
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    ...(stamp === undefined ? {} : { 'stream-continuity': `gen="${stamp}"${echo}` }),
  });
}

/** A random sequence that is the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
