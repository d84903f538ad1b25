import type { Duplex } from 'node:stream';
import type { HeaderLookup } from '@sameriver/core';
import type { Method, Original } from '@sameriver/telemetry';
import { Interposed } from '@sameriver/telemetry';

/** The answer to a handshake, as it was written to the socket. */
export interface ResponseHead {
  readonly status: number;
  readonly header: HeaderLookup;
}

const LONGEST = 65_536;
const END = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})/;

/** What is written to a socket until the head of the answer is complete. */
interface Reading {
  text: string;
  readonly found: ((head: ResponseHead) => void)[];
}

const readings = new Interposed<Reading>({ write: watchAnswer, end: watchAnswer });

/**
 * Reads the head of what is written to a socket. Whoever answers a handshake does it there, by
 * text of its own making; nothing else knows every answer.
 *
 * @param found Called once, as soon as the head is written and before anything else is; must not
 *   throw. Not called for what is no HTTP response.
 */
export function readResponseHead(socket: Duplex, found: (head: ResponseHead) => void): void {
  const known = readings.stateOf(socket);
  if (known === undefined) readings.put(socket, { text: '', found: [found] });
  else known.found.push(found);
}

function watchAnswer(original: Original): Method {
  return function answer(this: object, ...args: unknown[]) {
    const result = original().apply(this, args);
    take(this, args[0]);
    return result;
  };
}

function take(socket: object, chunk: unknown): void {
  const reading = readings.stateOf(socket);
  if (reading === undefined) return;
  reading.text += typeof chunk === 'string' ? chunk : bytesAsText(chunk);
  const end = reading.text.indexOf(END);
  if (end < 0 && reading.text.length < LONGEST) return;
  readings.remove(socket);
  const head = end < 0 ? undefined : parseHead(reading.text.slice(0, end));
  // An interim answer (100, 103) is followed by the one that counts; nobody sends it here.
  if (head === undefined) return;
  for (const found of reading.found) found(head);
}

function bytesAsText(chunk: unknown): string {
  return chunk instanceof Uint8Array ? Buffer.from(chunk).toString('latin1') : '';
}

function parseHead(text: string): ResponseHead | undefined {
  const status = STATUS_LINE.exec(text)?.[1];
  if (status === undefined) return undefined;
  let fields: Map<string, string> | undefined;
  return {
    status: Number(status),
    header: (name) => {
      fields ??= parseFields(text);
      return fields.get(name);
    },
  };
}

function parseFields(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return fields;
}
