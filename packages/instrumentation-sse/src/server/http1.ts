import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse as Response } from 'node:http';
import type { HeaderLookup, StreamRequest } from '@sameriver/core';
import { headerLookup } from '../headers.ts';
import type { Wire } from './body-wrappers.ts';
import { bodyWrappers } from './body-wrappers.ts';
import type { Method, Originals } from './patch.ts';
import { patchPrototype } from './patch.ts';
import type { ServerStreams } from './server-streams.ts';

const REQUEST_START = 'http.server.request.start';
const EVENT_STREAM = /\r\ncontent-type:[ \t]*text\/event-stream[ \t]*[;,\r]/i;

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

/**
 * Reads names from the head as it goes to the wire. Nothing else knows them all: `getHeader` does
 * not see what was given to `writeHead`, and the arguments do not show what was set before.
 */
function headLookup(head: string): HeaderLookup {
  let fields: Map<string, string> | undefined;
  return (name) => {
    fields ??= parseHead(head);
    return fields.get(name);
  };
}

function parseHead(head: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return fields;
}

function describe(request: IncomingMessage, arrival: Arrival | undefined): StreamRequest {
  const { originalUrl, url } = request as IncomingMessage & { originalUrl?: string };
  return {
    transport: 'sse',
    method: request.method ?? 'GET',
    origin: '',
    target: arrival?.target ?? originalUrl ?? url ?? '',
    // `request.headers` would be made here, and kept, for an application that never asks for it.
    header: headerLookup(request.rawHeaders),
  };
}

function judge(streams: ServerStreams, response: Response, arrival: Arrival | undefined): void {
  const { req, statusCode } = response;
  const head = (response as Response & { _header?: unknown })._header;
  // A HEAD request gets no body, whatever the application writes.
  if (typeof head !== 'string' || statusCode < 200 || req.method === 'HEAD') return;
  // Pipelined, and not yet its turn: Node 22 never says when such a response has lost its socket,
  // so following it could keep it for ever. No reader of event streams pipelines.
  if (response.socket === null) return;
  const request = describe(req, arrival);
  if (!streams.concerns(response, request, EVENT_STREAM.test(head))) return;
  const header = headLookup(head);
  streams.answered(response, { request, status: statusCode, header, arrivedAt: arrival?.at });
}

/** Follows responses of `node:http` and `node:https` servers, and whatever is built on them. */
export function tapHttp1(streams: ServerStreams): () => void {
  const arrivals = new WeakMap<object, Arrival>();
  const onStart = (message: unknown): void =>
    streams.guard(() => {
      const { request, response } = message as { request: IncomingMessage; response: Response };
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
          judge(streams, response, arrivals.get(response));
          // The head is written once, and the response may then stay for days.
          arrivals.delete(response);
        } catch {
          streams.failed();
        }
        return result;
      };
  // Not imported: that reads every export of the module, and one of them loads undici, 12 ms.
  const { ServerResponse } = process.getBuiltinModule('node:http');
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
