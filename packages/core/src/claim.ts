import { privateSlot } from './private-slot.ts';
import { processWide } from './process-wide.ts';

interface Claim {
  readonly owner: string;
  readonly priority: number;
}

const owners = processWide('owners', () => ({ count: 0 }));
const claims = processWide('claims', () => privateSlot<Claim>());

/**
 * Two taps of one kind in one process are two owners, so that the first of them has each stream to
 * itself.
 *
 * @param kind Of instrumentation: `sse`, say.
 * @returns A name that no other tap of this process has.
 */
export function newOwner(kind: string): string {
  owners.count += 1;
  return `${kind} ${owners.count}`;
}

/**
 * Settles which instrumentation follows a stream that several can see: an MCP session is an SSE
 * stream too, and must be counted once. The first claim stands until one of higher priority comes,
 * so an owner asks again before it reports.
 *
 * @param target The object that carries the stream in this process: a request, say.
 * @param owner Who asks, by `newOwner`.
 * @param priority The more specific the protocol, the higher; 0 for a bare transport.
 * @returns Whether `owner` holds `target` after the call.
 */
export function claim(target: object, owner: string, priority: number): boolean {
  const held = claims.get(target);
  if (held?.owner === owner) return true;
  if (held !== undefined && held.priority >= priority) return false;
  claims.set(target, { owner, priority });
  return true;
}
