import type { IncomingMessage } from 'node:http';
import { Agent, request as httpRequest } from 'node:http';
import type { Client, ClientRequest } from './client.ts';
import { CannotSend } from './client.ts';
import { startExchange } from './exchange.ts';

/** `http.request` of this Node. */
export function createHttpClient(): Client {
  const agent = new Agent({ keepAlive: true });
  return {
    connect: (request) =>
      startExchange(
        'http',
        (signal) => send(agent, request, signal),
        (response) => response as AsyncIterable<Buffer>,
      ),
    close: () => {
      agent.destroy();
      return Promise.resolve();
    },
  };
}

function send(agent: Agent, request: ClientRequest, signal: AbortSignal): Promise<IncomingMessage> {
  if (request.followRedirects) throw new CannotSend('node:http follows no redirects');
  const { method, headers, body, target: path } = request;
  const { hostname, port } = new URL(request.origin);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ agent, method, headers, hostname, port, path, signal });
    outgoing.on('response', resolve);
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
