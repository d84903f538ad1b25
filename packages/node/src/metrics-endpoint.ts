import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { bridgeMetrics } from '@sameriver/prometheus';
import { complain } from './complain.ts';
import { load } from './lazy.ts';

type Client = typeof import('@prometheus-io/client');

export interface MetricsEndpoint {
  readonly host: string;
  readonly port: number;
  /** The port cannot be listened on, and metrics go where they went without it. */
  readonly onFailure: () => void;
}

/**
 * Serves `GET /metrics` for Prometheus: in the OpenMetrics format, with exemplars, to who asks for it,
 * else as plain text. It keeps no process alive.
 */
export function serveMetrics({ host, port, onFailure }: MetricsEndpoint): Server {
  const { Registry } = load<Client>('@prometheus-io/client');
  const [plain, open] = [new Registry(), new Registry(Registry.OPENMETRICS_CONTENT_TYPE)];
  const withdraw = [plain, open].map((registry) => bridgeMetrics(registry));
  const server = createServer((request, response) => {
    if (!asksForMetrics(request)) {
      response.writeHead(404).end();
      return;
    }
    const accepted = request.headers.accept ?? '';
    void answer(response, accepted.includes('application/openmetrics-text') ? open : plain);
  });
  server.once('error', ({ message }) => {
    for (const step of withdraw) step();
    complain(`SAMERIVER_METRICS_PORT: no metrics are served: ${message}`);
    onFailure();
  });
  // A scraper's idle connection would keep the process alive as much as the server itself.
  server.on('connection', (socket) => socket.unref());
  return server.listen(port, host).unref();
}

function asksForMetrics({ method, url = '' }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && /^\/metrics(?:\?|$)/.test(url);
}

async function answer(
  response: ServerResponse,
  registry: InstanceType<Client['Registry']>,
): Promise<void> {
  try {
    const page = await registry.metrics();
    response.writeHead(200, { 'content-type': registry.contentType }).end(page);
  } catch {
    response.writeHead(500).end();
  }
}
