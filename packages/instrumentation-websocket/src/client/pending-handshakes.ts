import { createHash } from 'node:crypto';
import type { HeaderLookup } from '@sameriver/core';
import type { FollowedSocket } from '../followed-socket.ts';
import type { WebSocketLike } from './undici-classes.ts';

interface Asked {
  readonly socket: FollowedSocket;
  /** Of the request, with `http` for `ws`. */
  readonly url: string;
  /** The nonce that the server's answer is computed from. */
  readonly key: string | undefined;
}

interface Pending extends Asked {
  readonly request: object;
  answer: HeaderLookup | undefined;
}

/** RFC 6455, 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const MOST_URLS = 1000;

/**
 * Handshakes on their way, to find out which WebSocket each belongs to: undici says it nowhere.
 * The answer's hash of the nonce tells it exactly; where no answer is at hand, the oldest of the
 * same URL is taken, which nobody could tell from another one of that URL.
 */
export class PendingHandshakes {
  /** Also those that a WebSocket was taken for without proof. */
  readonly #byRequest = new WeakMap<object, Pending>();
  readonly #byUrl = new Map<string, Pending[]>();
  /** By URL, how many more requests have failed than WebSockets have said so. */
  readonly #unsaid = new Map<string, number>();

  add(request: object, asked: Asked): void {
    const pending: Pending = { ...asked, request, answer: undefined };
    this.#byRequest.set(request, pending);
    const same = this.#byUrl.get(asked.url);
    if (same === undefined) this.#byUrl.set(asked.url, [pending]);
    else same.push(pending);
  }

  /** The server has changed the protocol; what undici thinks of its answer is still to come. */
  answered(request: object, answer: HeaderLookup): void {
    const pending = this.#byRequest.get(request);
    if (pending !== undefined) pending.answer = answer;
  }

  isAnswered(request: object): boolean {
    return this.#byRequest.get(request)?.answer !== undefined;
  }

  /** @returns The attempt that ends with this request, because no WebSocket comes of it. */
  refused(request: object): FollowedSocket | undefined {
    const pending = this.#byRequest.get(request);
    if (pending === undefined) return undefined;
    this.#byRequest.delete(request);
    this.#say(pending.url, 1);
    if (this.#drop(pending)) return pending.socket;
    // Its attempt has gone to the WebSocket of another handshake of this URL; that one's ends now.
    return this.#byUrl.get(pending.url)?.shift()?.socket;
  }

  /**
   * A WebSocket of this URL opens.
   *
   * @param answer Headers of the response, as far as they are known.
   */
  take(url: string, answer: HeaderLookup | undefined): Pending | undefined {
    const same = this.#byUrl.get(asHttp(url));
    const accept = answer?.('sec-websocket-accept');
    const proven =
      accept === undefined
        ? undefined
        : same?.find(({ key }) => key !== undefined && hash(key) === accept);
    const pending = proven ?? same?.find(({ answer: own }) => own !== undefined) ?? same?.[0];
    if (pending === undefined) return undefined;
    // The request stays for as long as its WebSocket does. Should undici not accept the answer after
    // all, the other WebSocket will say so.
    if (pending.answer !== undefined || pending === proven) this.#byRequest.delete(pending.request);
    this.#drop(pending);
    return pending;
  }

  /** A WebSocket says that it will not open. */
  failed({ url }: WebSocketLike): void {
    const httpUrl = asHttp(url);
    this.#say(httpUrl, -1);
    // Its request mostly says so too, before or after. Only of an answer that undici does not
    // accept it says nothing.
    setImmediate(() => this.#reject(httpUrl)).unref();
  }

  #reject(url: string): void {
    if ((this.#unsaid.get(url) ?? 0) >= 0) return;
    this.#say(url, 1);
    const same = this.#byUrl.get(url);
    const pending = same?.find(({ answer }) => answer !== undefined) ?? same?.[0];
    if (pending === undefined) return;
    this.#byRequest.delete(pending.request);
    this.#drop(pending);
    pending.socket.failed('handshake');
  }

  #say(url: string, more: 1 | -1): void {
    const unsaid = (this.#unsaid.get(url) ?? 0) + more;
    if (unsaid === 0) this.#unsaid.delete(url);
    else {
      // WebSockets of a class that is not known say nothing.
      if (this.#unsaid.size >= MOST_URLS) this.#unsaid.clear();
      this.#unsaid.set(url, unsaid);
    }
  }

  #drop(pending: Pending): boolean {
    const same = this.#byUrl.get(pending.url);
    const at = same?.indexOf(pending) ?? -1;
    if (same === undefined || at < 0) return false;
    same.splice(at, 1);
    if (same.length === 0) this.#byUrl.delete(pending.url);
    return true;
  }
}

function hash(key: string): string {
  return createHash('sha1')
    .update(key + GUID)
    .digest('base64');
}

function asHttp(url: string): string {
  return url.replace(/^ws/, 'http');
}
