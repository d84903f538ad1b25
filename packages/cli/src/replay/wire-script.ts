import type { Transcript, TranscriptConnection } from '@sameriver/core';
import { isFollowed } from '@sameriver/core';
import type { SocketHop } from './socket-hop.ts';
import { socketHop } from './socket-hop.ts';
import type { StreamHop } from './stream-hop.ts';
import { streamHop } from './stream-hop.ts';

/** One connection of the transcript. */
type Hop = StreamHop | SocketHop;

/**
 * What a client does as one: its redirects, then the answer that counts (L6). Never empty, and of
 * one transport.
 */
export type Attempt =
  | { readonly transport: 'sse'; readonly hops: readonly [StreamHop, ...StreamHop[]] }
  | { readonly transport: 'websocket'; readonly hops: readonly [SocketHop, ...SocketHop[]] };

export type WireScript =
  | { readonly kind: 'script'; readonly attempts: readonly Attempt[] }
  | { readonly kind: 'skipped'; readonly why: string };

/**
 * Turns a transcript into what a scripted server and its clients do over sockets.
 *
 * @returns The attempts in file order, or why nothing can carry this transcript.
 */
export function wireScript({ connections }: Transcript): WireScript {
  const attempts: Attempt[] = [];
  let followed = false;
  for (const [index, connection] of connections.entries()) {
    const hop = hopOf(index, connection);
    if ('why' in hop) return { kind: 'skipped', why: hop.why };
    const last = followed ? attempts.pop() : undefined;
    const attempt = joined(last, hop);
    if (attempt === undefined) {
      return { kind: 'skipped', why: 'no redirect leads to a WebSocket, and none away from one' };
    }
    attempts.push(attempt);
    followed = isFollowed(connection, connections[index + 1]);
  }
  if (attempts.some(leavesTheTranscript)) {
    return { kind: 'skipped', why: 'a client that follows redirects would leave the transcript' };
  }
  return { kind: 'script', attempts };
}

function hopOf(index: number, connection: TranscriptConnection): Hop | { readonly why: string } {
  return connection.transport === 'sse'
    ? streamHop(index, connection)
    : socketHop(index, connection);
}

/** @returns `undefined` where the redirect would lead from one transport to the other. */
function joined(before: Attempt | undefined, hop: Hop): Attempt | undefined {
  if (hop.transport === 'sse') {
    if (before?.transport === 'websocket') return undefined;
    return { transport: 'sse', hops: before === undefined ? [hop] : [...before.hops, hop] };
  }
  if (before?.transport === 'sse') return undefined;
  return { transport: 'websocket', hops: before === undefined ? [hop] : [...before.hops, hop] };
}

/** A replay stays on this machine: nobody may follow a redirect whose next hop is not recorded. */
function leavesTheTranscript({ hops }: Attempt): boolean {
  const answer = hops.at(-1)?.answer;
  if (hops.length === 1 || answer === undefined) return false;
  return answer.status >= 300 && answer.status <= 399 && answer.headers['location'] !== undefined;
}
