import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on the loopback interface. */
export interface Loopback {
  readonly server: Server;
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  /** Ends every connection; call it from `afterEach` or `using`. */
  close(): Promise<void>;
}

/** @param handler Answers each request; its errors are the test's. */
export async function loopback(handler: RequestListener): Promise<Loopback> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
