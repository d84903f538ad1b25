import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Method, Original } from '@sameriver/telemetry';
import { headerLookup, Interposed } from '@sameriver/telemetry';
import type { FollowedSocket } from '../followed-socket.ts';
import type { PolledSession } from './polled-sessions.ts';
import { PolledSessions } from './polled-sessions.ts';

interface Body {
  chunks: Buffer[];
  size: number;
  /** Gets all of it, once it is there. */
  readonly whole: (text: string) => void;
}

type BodyOf = (carrier: object) => Body | undefined;

/** Bytes above which a body is kept no longer. */
const LONGEST = 1 << 20;

const answers = new Interposed<Body>({ push: watchPush });
const requests = new Interposed<Body>({ write: watchWrite, end: watchEnd });

/**
 * Reads along where Engine.IO polls by node:http, before it changes over to a WebSocket of `ws`.
 * Version 4 of its protocol alone: older ones write the lengths of packets into the body.
 */
export class Polling {
  readonly #sessions = new PolledSessions();
  /** Of answers on their way; `undefined` for the one that will name its session. */
  readonly #asked = new WeakMap<object, PolledSession | undefined>();
  readonly #changing = new WeakMap<FollowedSocket, PolledSession>();
  readonly #safely: (step: () => void) => void;

  /** @param safely Runs a step; a fault of it must reach nobody. */
  constructor(safely: (step: () => void) => void) {
    this.#safely = safely;
  }

  /** A request of any kind is about to be made: most are passed by after one look at the path. */
  asked(request: ClientRequest): void {
    // Node takes a path of any type that can be written as text.
    if (typeof request.path !== 'string' || !request.path.includes('transport=polling')) return;
    this.#safely(() => {
      const query = queryOf(request);
      if (query.get('EIO') !== '4') return;
      const sid = query.get('sid');
      const session = sid === null ? undefined : this.#sessions.find(sid);
      if (sid !== null && session === undefined) return;
      if (request.method === 'GET') this.#asked.set(request, session);
      else if (session !== undefined) {
        requests.put(
          request,
          this.#body((text) => this.#sessions.take(session, 'sent', text)),
        );
      }
    });
  }

  answered(request: ClientRequest, response: IncomingMessage): void {
    if (!this.#asked.has(request)) return;
    const session = this.#asked.get(request);
    this.#asked.delete(request);
    const header = headerLookup(response.rawHeaders);
    if (response.statusCode !== 200 || header('content-encoding') !== undefined) return;
    const whole = (text: string): void => {
      if (session === undefined) this.#sessions.begin(text);
      else this.#sessions.take(session, 'received', text);
    };
    answers.put(response, this.#body(whole));
  }

  /** A WebSocket is about to open that may carry on what was polled. */
  upgrades(request: ClientRequest, socket: FollowedSocket): void {
    const sid = queryOf(request).get('sid');
    const session = sid === null ? undefined : this.#sessions.find(sid);
    if (session !== undefined) this.#changing.set(socket, session);
  }

  /** The WebSocket is open; it is told what was polled before anything of its own. */
  opened(socket: FollowedSocket): void {
    const session = this.#changing.get(socket);
    if (session !== undefined) this.#sessions.changeOver(session, socket);
  }

  #body(whole: (text: string) => void): Body {
    return { chunks: [], size: 0, whole: (text) => this.#safely(() => whole(text)) };
  }
}

function queryOf({ path }: ClientRequest): URLSearchParams {
  return new URLSearchParams(path.slice(path.indexOf('?') + 1));
}

function watchPush(original: Original, bodyOf: BodyOf): Method {
  return function push(this: IncomingMessage, ...args: unknown[]) {
    const [chunk] = args;
    const body = bodyOf(this);
    if (body !== undefined) {
      if (chunk === null) {
        answers.remove(this);
        if (this.complete) finish(body);
      } else keep(body, chunk);
    }
    return original().apply(this, args);
  };
}

function watchWrite(original: Original, bodyOf: BodyOf): Method {
  return function write(this: object, ...args: unknown[]) {
    const body = bodyOf(this);
    if (body !== undefined) keep(body, args[0]);
    return original().apply(this, args);
  };
}

function watchEnd(original: Original, bodyOf: BodyOf): Method {
  return function end(this: object, ...args: unknown[]) {
    const body = bodyOf(this);
    if (body !== undefined) {
      requests.remove(this);
      keep(body, args[0]);
      finish(body);
    }
    return original().apply(this, args);
  };
}

function keep(body: Body, chunk: unknown): void {
  if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
  body.size += chunk.length;
  if (body.size > LONGEST) body.chunks = [];
  else body.chunks.push(Buffer.from(chunk));
}

function finish({ chunks, size, whole }: Body): void {
  if (size > 0 && size <= LONGEST) whole(Buffer.concat(chunks).toString());
}
