import type { Dispatcher } from 'undici';
import type { Client, ClientRequest } from './client.ts';
import { startExchange } from './exchange.ts';

/**
 * `request` of the npm package. It is loaded here and not before, because loading it hands the
 * global fetch of older Node lines over to its own dispatcher.
 */
export async function createUndiciClient(): Promise<Client> {
  const { Agent, interceptors } = await import('undici');
  const agent = new Agent();
  const following = agent.compose(interceptors.redirect({ maxRedirections: 20 }));
  return {
    connect: (request) =>
      startExchange(
        'undici',
        (signal) => send(request.followRedirects ? following : agent, request, signal),
        (answer) => answer.body as AsyncIterable<Buffer>,
      ),
    close: () => agent.destroy(),
  };
}

function send(
  dispatcher: Dispatcher,
  request: ClientRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  return dispatcher.request({
    origin: request.origin,
    path: request.target,
    method: request.method as Dispatcher.HttpMethod,
    headers: { ...request.headers },
    body: request.body ?? null,
    signal,
  });
}
