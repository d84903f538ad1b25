import type { Client, ClientRequest } from './client.ts';
import { startExchange } from './exchange.ts';

/** The `fetch` of this Node. */
export function createFetchClient(): Client {
  return {
    connect: (request) =>
      startExchange(
        'fetch',
        (signal) => send(request, signal),
        (response) => response.body ?? empty(),
      ),
    close: () => Promise.resolve(),
  };
}

function send(request: ClientRequest, signal: AbortSignal): Promise<Response> {
  const { method, headers, body, followRedirects } = request;
  return fetch(`${request.origin}${request.target}`, {
    method,
    headers,
    redirect: followRedirects ? 'follow' : 'manual',
    signal,
    ...(body === undefined ? {} : { body }),
  });
}

async function* empty(): AsyncGenerator<Uint8Array> {}
