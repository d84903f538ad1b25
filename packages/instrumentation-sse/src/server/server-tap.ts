import type { StopTap, TapHost } from '@sameriver/telemetry';
import { tapHttp1 } from './http1.ts';
import { tapHttp2 } from './http2.ts';
import { ServerStreams } from './server-streams.ts';

/**
 * Follows what this process answers: every response of `text/event-stream`, and every answer to a
 * request that `host.timeline.wants`, a refusal for instance.
 *
 * | HTTP | hook | seen on Node |
 * |---|---|---|
 * | 1.0, 1.1, TLS | `ServerResponse.prototype`: `writeHead`, `write`, `end`, `emit` | 22, 24, 26 |
 * | 2, both APIs | channels `http2.server.stream.*`, prototype of the streams | 22.17, 24, 26 |
 *
 * Proven with node:http, node:https, node:http2, express 5 (also with compression), fastify 5 with
 * `@fastify/sse` (also over HTTP/2), hono on `@hono/node-server`, koa 3 (also over HTTP/2),
 * better-sse, graphql-sse, NestJS 12 `@Sse`, `@modelcontextprotocol/sdk` 1.32 (both transports) and
 * `@modelcontextprotocol/server` 2.4. Bodies in gzip, deflate, br and zstd are decoded aside.
 *
 * Not seen: HTTP/2 before Node had the channels (22.15); responses without a socket of their own,
 * which are those of `light-my-request` and pipelined ones before their turn; files sent by
 * `respondWithFile`; bodies in other codings (counted as `decoder`).
 *
 * Nothing that shows is added to any object but one property, not enumerable, on a response that is
 * followed.
 * A failure of ours is counted as `server_tap`, ends the following of that one response, and is
 * never thrown.
 *
 * @returns Puts the original functions back and ends what is still open as `aborted`.
 */
export function startServerTap(host: TapHost): StopTap {
  const streams = new ServerStreams(host);
  const undo = [tapHttp1(streams), tapHttp2(streams)];
  return () => {
    for (const each of undo) each();
    streams.stop();
  };
}
