import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { MigrationPlan, Profile } from '@sameriver/core';
import { WebSocketServer } from 'ws';
import type { Loopback } from './loopback.ts';
import { loopback } from './loopback.ts';
import type { Attachment, SessionEvent } from './session-log.ts';
import { SessionLog } from './session-log.ts';

/** The generation that the server names in every answer. */
const GENERATION = { 'x-session-generation': 'g1' };
const ROUTE = /^\/session\/([^/?]+)\/(events|upgrade|ws)(?:\?.*)?$/;

/** What the sessions of the server look like on the wire, as a profile. */
export const sessionProfile: Profile = {
  name: 'session',
  match: { path: '^/session/[^/]+/(events|upgrade|ws)' },
  key: '^/session/([^/]+)/',
  messages: 'json',
  cursor: {
    sent: ['req-header:last-event-id', 'query:last_event_id', 'sent-json:/processed'],
    received: ['sse:id', 'json:/id'],
    codec: 'int',
    dense: true,
  },
  epoch: { received: ['header:x-session-generation'] },
};

export interface SessionServerOptions {
  /**
   * What a WebSocket gets that continues a session. `replay`: what the ring holds after the cursor
   * comes first, and where it holds too little the upgrade is refused with 409. `refuse`: the same
   * with a ring of two events, which soon holds too little. `lose`: the live tail, whatever came
   * between.
   */
  readonly onUpgrade: 'replay' | 'refuse' | 'lose';
  /** Events that the ring of a session holds. Default 256; 2 for `refuse`. */
  readonly ring?: number;
}

/**
 * Sessions that are read as server-sent events and may move to a WebSocket:
 * `GET /session/{id}/events`, `POST /session/{id}/upgrade` with the processed cursor in
 * `Last-Event-ID` or in its body, `{"processed":10}`, and `GET /session/{id}/ws`, with the cursor in `last_event_id` unless the POST
 * has handed it over.
 */
export interface SessionServer {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  /** Makes the next events of a session, and sends them to its reader if it has one. */
  emit(session: string, events: number): void;
  /** Resolves when nobody reads the session any more. */
  untilReleased(session: string): Promise<void>;
  /** Resolves when somebody reads it. */
  untilAttached(session: string): Promise<void>;
  close(): Promise<void>;
}

/** @throws Error of `node:net` when the loopback interface cannot be listened on. */
export async function startSessionServer(options: SessionServerOptions): Promise<SessionServer> {
  const sessions = new Sessions(options);
  const server: Loopback = await loopback((request, response) =>
    sessions.answer(request, response),
  );
  server.server.on('upgrade', (request, socket, head) => sessions.upgrade(request, socket, head));
  return {
    origin: server.origin,
    emit: (session, events) => {
      for (let made = 0; made < events; made += 1) sessions.log(session).emit();
    },
    untilReleased: (session) => sessions.until(() => sessions.log(session).attached === undefined),
    untilAttached: (session) => sessions.until(() => sessions.log(session).attached !== undefined),
    close: async () => {
      sessions.close();
      await server.close();
    },
  };
}

class Sessions {
  readonly #logs = new Map<string, SessionLog>();
  readonly #options: SessionServerOptions;
  readonly #sockets = new WebSocketServer({ noServer: true });
  #waiting: Array<() => void> = [];

  constructor(options: SessionServerOptions) {
    this.#options = options;
    this.#sockets.on('headers', (headers) => {
      for (const [name, value] of Object.entries(GENERATION)) headers.push(`${name}: ${value}`);
    });
  }

  log(session: string): SessionLog {
    const { onUpgrade, ring = onUpgrade === 'refuse' ? 2 : 256 } = this.#options;
    const log = this.#logs.get(session) ?? new SessionLog(ring);
    this.#logs.set(session, log);
    return log;
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const [, session = '', route] = ROUTE.exec(request.url ?? '') ?? [];
    if (route === 'events' && request.method === 'GET') {
      this.#stream(this.log(session), request, response);
    } else if (route === 'upgrade' && request.method === 'POST') {
      void this.#announce(this.log(session), request, response);
    } else response.writeHead(404).end();
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const [, session = '', route] = ROUTE.exec(request.url ?? '') ?? [];
    if (route !== 'ws') {
      refuse(socket, 404);
      return;
    }
    const log = this.log(session);
    const processed = cursorOf(request) ?? log.handedOver;
    const plan = processed === undefined ? undefined : this.#planFor(log, processed);
    if (plan?.action === 'refuse') {
      refuse(socket, plan.status);
      return;
    }
    log.handedOver = undefined;
    const owed = processed === undefined || plan === undefined ? [] : log.after(processed);
    this.#sockets.handleUpgrade(request, socket, head, (opened) => {
      const reader: Attachment = {
        send: ({ id, data }) => opened.send(JSON.stringify({ id, ...data })),
        detach: () => opened.close(1001),
      };
      opened.on('close', () => this.#changed(() => log.release(reader)));
      for (const event of owed) reader.send(event);
      this.#changed(() => log.attach(reader));
    });
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
  }

  async until(reached: () => boolean): Promise<void> {
    while (!reached()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #stream(log: SessionLog, request: IncomingMessage, response: ServerResponse): void {
    const cursor = cursorOf(request);
    if (cursor !== undefined && log.plan(cursor).action === 'refuse') {
      response.writeHead(410, GENERATION).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', ...GENERATION });
    response.flushHeaders();
    const reader: Attachment = {
      send: (event) => response.write(asServerSent(event)),
      detach: () => response.end(),
    };
    response.on('close', () => this.#changed(() => log.release(reader)));
    for (const event of cursor === undefined ? [] : log.after(cursor)) reader.send(event);
    this.#changed(() => log.attach(reader));
  }

  async #announce(
    log: SessionLog,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const processed = (await processedIn(request)) ?? cursorOf(request);
    const plan = processed === undefined ? undefined : this.#planFor(log, processed);
    if (plan?.action === 'refuse') {
      response.writeHead(plan.status, GENERATION).end();
      return;
    }
    log.handedOver = processed;
    response.writeHead(202, GENERATION).end();
  }

  /** `undefined` where the server makes no plan: that is how it loses events. */
  #planFor(log: SessionLog, processed: number): MigrationPlan | undefined {
    return this.#options.onUpgrade === 'lose' ? undefined : log.plan(processed);
  }

  #changed(change: () => void): void {
    change();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** What the body of an announcement says, if it has one. */
async function processedIn(request: IncomingMessage): Promise<number | undefined> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  if (text === '') return undefined;
  const { processed } = JSON.parse(text) as { readonly processed?: number };
  return processed;
}

function cursorOf({ headers, url = '' }: IncomingMessage): number | undefined {
  const asked = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('last_event_id');
  const text = headers['last-event-id'] ?? asked;
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function asServerSent({ id, data }: SessionEvent): string {
  return `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}

function refuse(socket: Duplex, status: number): void {
  const generation = Object.entries(GENERATION).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status} Refused\r\n${generation.join('')}connection: close\r\ncontent-length: 0\r\n\r\n`,
  );
}
