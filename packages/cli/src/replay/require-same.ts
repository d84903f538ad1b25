import type { Arrival } from './arrival.ts';
import { CannotSend } from './clients/client.ts';
import type { WireRequest } from './wire-message.ts';

/** Headers that are lists, which each library joins as it likes. */
const LISTS = new Set(['sec-websocket-protocol']);

/**
 * A replay is only one if the server sees the request of the transcript.
 *
 * @param carried Headers of the first hop, which a client may take along or not.
 * @throws CannotSend when it sees another.
 */
export function requireSame(
  arrival: Arrival,
  { method, target, headers }: WireRequest,
  carried: readonly string[],
): void {
  if (arrival.method !== method || arrival.target !== target) {
    const sent = `${arrival.method} ${arrival.target}`;
    throw new CannotSend(`the client sends ${sent}, not ${method} ${target}`);
  }
  for (const name of new Set([...carried, ...Object.keys(headers)])) {
    const sent = normal(name, arrival.header(name));
    const wanted = normal(name, headers[name]);
    if (sent === wanted) continue;
    const [one, other] = [JSON.stringify(sent), JSON.stringify(wanted)];
    throw new CannotSend(`the client sends ${name} ${one}, not ${other}`);
  }
}

function normal(name: string, value = ''): string {
  return LISTS.has(name) ? value.split(/\s*,\s*/).join(', ') : value.trim();
}
