import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FollowedStream } from './followed-stream.ts';
import type { Method } from './shadow.ts';
import type { StandIn } from './stand-in.ts';
import { attach, detach, standIn, streamOn } from './stand-in.ts';
import type { UndiciRequest } from './undici-request.ts';

const CHANNEL = 'undici:request:bodyChunkReceived';

// undici 5 to 7, then 8. Not every copy publishes the channel (undici 6 has none), and some do both,
// so exactly one way is chosen for each request. The method comes first: it costs the requests that
// nobody follows nothing, while a channel with a subscriber costs every chunk of the process.
const METHODS: ReadonlyArray<readonly [keyof UndiciRequest, readonly StandIn[]]> = [
  ['onData', [seesChunks('onData', (request) => Object.getPrototypeOf(request).onData)]],
  [
    'onResponseData',
    [seesChunks('onResponseData', (request) => Object.getPrototypeOf(request).onResponseData)],
  ],
];

const published = new Set<object>();

/** Feeds the body of `request` to `stream`, each chunk before its consumer gets it. */
export function followChunks(request: UndiciRequest, stream: FollowedStream): void {
  const [, standIns] = METHODS.find(([name]) => typeof request[name] === 'function') ?? [];
  attach(request, stream, standIns ?? []);
  if (standIns === undefined) listenFor(request, stream);
  stream.carriedBy(request, detachRequest);
}

function detachRequest(request: object): void {
  for (const [, standIns] of METHODS) detach(request, standIns);
}

function seesChunks(key: string, inherited: (request: object) => Method): StandIn {
  const make = (behind: (request: object) => Method): Method =>
    function onChunk(chunk: Uint8Array) {
      streamOn(this)?.push(chunk);
      return behind(this).call(this, chunk);
    };
  return standIn(key, make, inherited);
}

function listenFor(request: object, stream: FollowedStream): void {
  if (published.size === 0) subscribe(CHANNEL, onPublished);
  published.add(request);
  stream.untilOver(() => {
    published.delete(request);
    if (published.size === 0) unsubscribe(CHANNEL, onPublished);
  });
}

function onPublished(message: unknown): void {
  const { request, chunk } = message as { request: object; chunk: Uint8Array };
  if (published.has(request)) streamOn(request)?.push(chunk);
}
