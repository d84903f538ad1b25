import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse as Response } from 'node:http';
import { createRequire } from 'node:module';
import type { StreamRequest } from '@sameriver/core';
import { privateSlot } from '@sameriver/core';
import { headerLookup, requestBodies } from '@sameriver/telemetry';
import { keepAnnouncement } from './announcements.ts';
import type { Wire } from './body-wrappers.ts';
import { bodyWrappers } from './body-wrappers.ts';
import type { Method, Originals } from './patch.ts';
import { patchPrototype } from './patch.ts';
import type { ServerStreams } from './server-streams.ts';
import { WrittenHeads } from './written-heads.ts';

const REQUEST_START = 'http.server.request.start';

interface Arrival {
  readonly at: number;
  /** As it was sent: routers rewrite `req.url` while they hand a request down. */
  readonly target: string;
}

const WIRE: Wire = {
  gone(response) {
    const { destroyed, socket } = response as Response;
    return destroyed || socket?.destroyed === true;
  },
  encoding: (_response, argument) => argument,
};

/** True for requests whose time of arrival is worth noting: they ask for a stream or to resume one. */
function asksForStream(rawHeaders: readonly string[]): boolean {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 6 && name.toLowerCase() === 'accept') {
      if (rawHeaders[i + 1]?.includes('text/event-stream')) return true;
    } else if (name.length === 13 && name.toLowerCase() === 'last-event-id') return true;
  }
  return false;
}

function describe(request: IncomingMessage, arrival: Arrival | undefined): StreamRequest {
  const { originalUrl, url } = request as IncomingMessage & { originalUrl?: string };
  const body = requestBodies.get(request);
  return {
    ...(body && { body }),
    transport: 'sse',
    method: request.method ?? 'GET',
    origin: '',
    target: arrival?.target ?? originalUrl ?? url ?? '',
    // `request.headers` would be made here, and kept, for an application that never asks for it.
    header: headerLookup(request.rawHeaders),
  };
}

function judge(
  streams: ServerStreams,
  heads: WrittenHeads,
  response: Response,
  arrival: Arrival | undefined,
): void {
  const { req, statusCode } = response;
  const head = (response as Response & { _header?: unknown })._header;
  // A HEAD request gets no body, whatever the application writes.
  if (typeof head !== 'string' || statusCode < 200 || req.method === 'HEAD') return;
  // Pipelined, and not yet its turn: Node 22 never says when such a response has lost its socket,
  // so following it could keep it for ever. No reader of event streams pipelines.
  if (response.socket === null) return;
  const request = describe(req, arrival);
  if (!streams.concerns(response, request, heads.isEventStream(head))) return;
  const header = heads.lookup(head);
  streams.answered(response, { request, status: statusCode, header, arrivedAt: arrival?.at });
}

/** Follows responses of `node:http` and `node:https` servers, and whatever is built on them. */
export function tapHttp1(streams: ServerStreams): () => void {
  const heads = new WrittenHeads();
  const arrivals = privateSlot<Arrival>();
  const onStart = (message: unknown): void =>
    streams.guard(() => {
      const { request, response } = message as { request: IncomingMessage; response: Response };
      keepAnnouncement(request);
      if (!asksForStream(request.rawHeaders)) return;
      arrivals.set(response, { at: streams.now(), target: request.url ?? '' });
    });
  const wrapHead =
    (name: 'writeHead' | 'writeHeader') =>
    (originals: Originals<'writeHead' | 'writeHeader'>): Method =>
      function writeHead(this: unknown, ...args: unknown[]): unknown {
        const result = originals[name].apply(this, args);
        const response = this as Response;
        try {
          const arrival = arrivals.get(response);
          judge(streams, heads, response, arrival);
          // The head is written once, and the response may then stay for days.
          if (arrival !== undefined) arrivals.set(response, undefined);
        } catch {
          streams.failed();
        }
        return result;
      };
  // Not imported: that reads every export of the module, and one of them loads undici, 12 ms. And
  // required, as an application would: what OpenTelemetry's hook first hands out by another way, it
  // keeps from the hooks behind it, which are those of dd-trace for one.
  const { ServerResponse } = createRequire(import.meta.url)(
    'node:http',
  ) as typeof import('node:http');
  const undo = patchPrototype(ServerResponse.prototype, {
    ...bodyWrappers(streams.slot, WIRE),
    writeHead: wrapHead('writeHead'),
    // An alias of old, gone from Node 26.
    writeHeader: wrapHead('writeHeader'),
  });
  subscribe(REQUEST_START, onStart);
  return () => {
    unsubscribe(REQUEST_START, onStart);
    undo();
  };
}
