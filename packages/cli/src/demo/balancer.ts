import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One event stream that passes through. */
export interface PassingStream {
  readonly cursor: string | undefined;
  readonly status: number;
  /**
   * Cuts the connection to the client.
   *
   * @param behind What becomes of the connection to the server: a half-dead one is still read, so
   *   that the server goes on writing to nobody.
   */
  cut(behind: 'close' | 'keep reading'): void;
}

/** An HTTP load balancer without affinity: it decides anew for each request. */
export interface Balancer {
  readonly origin: string;
  /** Ports of the servers behind it. */
  readonly servers: number[];
  /** Which server gets the next requests, whoever they come from. */
  route: number;
  /** The next event stream that a server begins to answer. */
  nextStream(): Promise<PassingStream>;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const waiting: Array<(stream: PassingStream) => void> = [];
  const server = createServer((request, response) => {
    pass(request, response, balancer.servers[balancer.route] ?? 0, (stream) => {
      for (const tell of waiting.splice(0)) tell(stream);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const balancer: Balancer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    servers: [],
    route: 0,
    nextStream: () => new Promise((resolve) => waiting.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return balancer;
}

function pass(
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
  onStream: (stream: PassingStream) => void,
): void {
  const { method, url, headers } = request;
  const toServer = forward({ host: '127.0.0.1', port, method, path: url, headers, agent: false });
  let behind: 'close' | 'keep reading' = 'close';
  toServer.on('response', (answer) => {
    const status = answer.statusCode ?? 502;
    response.writeHead(status, answer.headers);
    response.flushHeaders();
    answer.on('data', (chunk: Buffer) => {
      if (!response.destroyed) response.write(chunk);
    });
    answer.on('end', () => response.end());
    answer.on('error', () => response.destroy());
    if (method !== 'GET') return;
    const cursor = headers['last-event-id'];
    onStream({
      cursor: typeof cursor === 'string' ? cursor : undefined,
      status,
      cut: (wanted) => {
        behind = wanted;
        response.destroy();
      },
    });
  });
  toServer.on('error', () => response.destroy());
  response.on('close', () => {
    if (behind === 'close') toServer.destroy();
  });
  request.pipe(toServer);
}
