import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { HeaderLookup, StreamRequest } from '@sameriver/core';
import { requestBodies } from '@sameriver/telemetry';
import type { Wire } from './body-wrappers.ts';
import { bodyWrappers } from './body-wrappers.ts';
import { patchPrototype } from './patch.ts';
import type { ServerStreams, Slotted } from './server-streams.ts';

// Node 22.15 has neither channel: its HTTP/2 responses are not seen.
const STREAM_CREATED = 'http2.server.stream.created';
/** Published inside `respond`, once the head has been handed to the session. */
const HEAD_WRITTEN = 'http2.server.stream.finish';

const EVENT_STREAM = /^\s*text\/event-stream\s*(?:[;,]|$)/i;

interface Arrival {
  readonly at: number;
  readonly headers: IncomingHttpHeaders;
}

const WIRE: Wire = {
  gone(response) {
    const { destroyed, closed } = response as ServerHttp2Stream;
    return destroyed || closed;
  },
  encoding(response, argument) {
    if (typeof argument === 'string') return argument;
    return (response as { _writableState?: { defaultEncoding?: string } })._writableState
      ?.defaultEncoding;
  },
};

/** HTTP/2 names are lower case on the wire; the core API keeps them as the application wrote them. */
function lookup(headers: OutgoingHttpHeaders | IncomingHttpHeaders): HeaderLookup {
  return (name) => {
    const key = name in headers ? name : Object.keys(headers).find((k) => k.toLowerCase() === name);
    const value = key === undefined ? undefined : headers[key];
    return Array.isArray(value) ? value.join(', ') : value?.toString();
  };
}

function describe(stream: ServerHttp2Stream, { headers }: Arrival): StreamRequest {
  const body = requestBodies.get(stream);
  return {
    transport: 'sse',
    method: headers[':method']?.toString() ?? 'GET',
    origin: '',
    target: headers[':path']?.toString() ?? '',
    header: lookup(headers),
    ...(body && { body }),
  };
}

function judge(streams: ServerStreams, stream: ServerHttp2Stream, arrival: Arrival): void {
  // A HEAD request gets no body, whatever the application writes.
  if (arrival.headers[':method'] === 'HEAD') return;
  const header = lookup(stream.sentHeaders ?? {});
  const request = describe(stream, arrival);
  const isEventStream = EVENT_STREAM.test(header('content-type') ?? '');
  if (!streams.concerns(stream, request, isEventStream)) return;
  const status = Number(header(':status') ?? 200);
  streams.answered(stream, { request, status, header, arrivedAt: arrival.at });
  // A response without a body has been ended before its head was written.
  if (stream.writableEnded) (stream as unknown as Slotted)[streams.slot]?.finish('eof');
}

/**
 * Follows responses of HTTP/2 servers. The class of their streams is not exported, so its prototype
 * is taken from the first stream; the compatibility API writes through the same methods.
 */
export function tapHttp2(streams: ServerStreams): () => void {
  const arrivals = new WeakMap<object, Arrival>();
  const patched = new Map<object, () => void>();
  const onCreated = (message: unknown): void =>
    streams.guard(() => {
      const { stream, headers } = message as {
        stream: ServerHttp2Stream;
        headers: IncomingHttpHeaders;
      };
      arrivals.set(stream, { at: streams.now(), headers });
      const prototype = Object.getPrototypeOf(stream);
      if (patched.has(prototype)) return;
      patched.set(prototype, patchPrototype(prototype, bodyWrappers(streams.slot, WIRE)));
    });
  const onHead = (message: unknown): void =>
    streams.guard(() => {
      const { stream } = message as { stream: ServerHttp2Stream };
      const arrival = arrivals.get(stream);
      if (arrival === undefined) return;
      judge(streams, stream, arrival);
      arrivals.delete(stream);
    });
  subscribe(STREAM_CREATED, onCreated);
  subscribe(HEAD_WRITTEN, onHead);
  return () => {
    unsubscribe(STREAM_CREATED, onCreated);
    unsubscribe(HEAD_WRITTEN, onHead);
    for (const undo of patched.values()) undo();
  };
}
