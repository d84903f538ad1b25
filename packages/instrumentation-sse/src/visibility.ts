import type { SseInstrumentationConfig } from './types.ts';

/** What is hooked in this process and what cannot be seen, for the debug log. */
export function visibility({ client = true, server = true }: SseInstrumentationConfig): string[] {
  const { node, ['undici']: undici = 'none' } = process.versions;
  return [
    `Node ${node}, undici ${undici}`,
    client
      ? 'client: fetch, EventSource and undici by channels undici:request:*, body bytes by ' +
        'onData, onResponseData or bodyChunkReceived of each request; http and https by channels ' +
        'http.client.*; not seen: mock dispatchers, a replaced fetch, raw http2 clients'
      : 'client: switched off',
    server
      ? 'server: HTTP/1.x by ServerResponse.prototype, HTTP/2 by channels http2.server.stream.* ' +
        'where Node has them (22.17, 24); not seen: injected requests that never reach a socket'
      : 'server: switched off',
  ];
}
