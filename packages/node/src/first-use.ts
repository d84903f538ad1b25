import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';

/** Whether a message says that the process serves, or that it opens or reads a stream. */
type Sign = (message: never) => boolean;

interface RequestMessage {
  readonly request: { readonly headers: unknown };
}
interface ResponseMessage {
  readonly response: { readonly headers: unknown };
}
interface HttpRequestMessage {
  readonly request: { getHeaders(): unknown };
}

const anything: Sign = () => true;

// Only streams count among the requests that a process makes: what it fetches first is often a
// secret or a setting with which it then starts an SDK of its own.
const SIGNS: Readonly<Record<string, Sign>> = {
  'http.server.request.start': anything,
  'http2.server.stream.created': anything,
  'undici:request:create': ({ request }: RequestMessage) => asksForStream(request.headers),
  'undici:request:headers': ({ response }: ResponseMessage) => isStream(response.headers),
  'http.client.request.created': ({ request }: HttpRequestMessage) =>
    asksForStream(request.getHeaders()),
  'http.client.request.start': ({ request }: HttpRequestMessage) =>
    asksForStream(request.getHeaders()),
  'http.client.response.finish': ({ response }: ResponseMessage) => isStream(response.headers),
};

/** In the headers of a request for an event stream, and in those of a WebSocket's handshake. */
const STREAM_WORDS = ['text/event-stream', 'last-event-id', 'sec-websocket-key'];

const LISTEN = 'tracing:net.server.listen:asyncStart';

/**
 * Calls back once, when the process first does what there is to observe: a server listens or is
 * asked, an event stream is asked for or answered, a WebSocket is opened. At a request it does so before
 * anybody else hears of that request, so that who is started by it sees the first one already.
 */
export function atFirstUse(begin: () => void): void {
  const undo: Array<() => void> = [];
  const beginOnce = (): void => {
    if (undo.length === 0) return;
    for (const step of undo.splice(0)) step();
    begin();
  };
  for (const [name, sign] of Object.entries(SIGNS)) {
    undo.push(beforePublication(name, sign, beginOnce));
  }
  // A tick later: a Prometheus exporter listens as it is made, and its SDK starts in the next line.
  // No more than that: what an application does as soon as it listens is seen in full.
  const onListen = (): void => process.nextTick(beginOnce);
  subscribe(LISTEN, onListen);
  undo.push(() => unsubscribe(LISTEN, onListen));
}

/**
 * A subscriber that is added while a message is published does not get it any more, hence the
 * method in front of the one channel's `publish`.
 */
function beforePublication(name: string, sign: Sign, act: () => void): () => void {
  const target = channel(name);
  let active = true;
  const before = Object.hasOwn(target, 'publish') ? target.publish : undefined;
  const publish: typeof target.publish = function (this: typeof target, message) {
    const outermost = target.publish === publish;
    if (active && holds(sign, message)) act();
    // Whoever was started by that stands here now.
    if (outermost && !active) return target.publish(message);
    // A channel changes its prototype with its first subscriber.
    return (before ?? (Object.getPrototypeOf(this) as typeof target).publish).call(this, message);
  };
  Object.defineProperty(target, 'publish', { value: publish, writable: true, configurable: true });
  // Nobody publishes on a channel without subscribers.
  subscribe(name, ignore);
  return () => {
    active = false;
    unsubscribe(name, ignore);
    if (target.publish !== publish) return;
    if (before === undefined) Reflect.deleteProperty(target, 'publish');
    else target.publish = before;
  };
}

function ignore(): void {}

function holds(sign: Sign, message: unknown): boolean {
  try {
    return sign(message as never);
  } catch {
    return false;
  }
}

function asksForStream(headers: unknown): boolean {
  const text = flat(headers);
  return STREAM_WORDS.some((word) => text.includes(word));
}

function isStream(headers: unknown): boolean {
  return flat(headers).includes('text/event-stream');
}

/** Whatever shape a client gives its headers: a text, a list of texts or bytes, an object. */
function flat(headers: unknown): string {
  const parts = typeof headers === 'object' && !Array.isArray(headers) ? entries(headers) : headers;
  return String(parts).toLowerCase();
}

function entries(headers: object | null): unknown[] {
  return Object.entries(headers ?? {}).flat();
}
