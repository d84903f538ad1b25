import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { continuity } from '@sameriver/instrumentation-sse/continuity';

/** What a reader is sent of a log of five events: three, then after a reconnect the rest. */
export function eventsAfter(cursor: string | undefined): string {
  const from = Number(cursor ?? 0);
  const to = cursor === undefined ? 3 : 5;
  const retry = cursor === undefined ? 'retry: 5\n\n' : '';
  const events = Array.from({ length: to - from }, (_, i) => {
    const id = from + i + 1;
    return `id: ${id}\nevent: message\ndata: line ${id}\ndata: h\u00e9\u{1F600}\n\n`;
  });
  return retry + events.join('');
}

export const ALL: readonly string[] = [1, 2, 3, 4, 5].map(
  (id) => `${id}|line ${id}\nh\u00e9\u{1F600}`,
);

/** Says of each answer that it goes on, as an application with a log of its own does. */
export function stamp(request: IncomingMessage, response: ServerResponse): void {
  const cursor = request.headers['last-event-id'];
  const next = String(Number(cursor ?? 0) + 1);
  continuity(response, { status: 'resumed', epoch: 'log-1', next, newest: '5' }, { event: false });
}

export interface LogServer {
  readonly url: string;
  /** The cursors that came, in order. */
  readonly cursors: (string | undefined)[];
  close(): Promise<void>;
}

/** @param before What the handler does before it answers: stamps, or not. */
export async function startLogServer(
  before: (request: IncomingMessage, response: ServerResponse) => void,
  page?: RequestListener,
): Promise<LogServer> {
  const cursors: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    if (request.url !== '/events') {
      if (page === undefined) response.writeHead(404).end();
      else page(request, response);
      return;
    }
    const cursor = request.headers['last-event-id']?.toString();
    cursors.push(cursor);
    before(request, response);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(eventsAfter(cursor));
    // The second answer stays open, or every reader would come back for ever.
    if (cursor === undefined) response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    cursors,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
