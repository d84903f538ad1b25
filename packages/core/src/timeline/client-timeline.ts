import type { StreamObserver, StreamRequest, StreamTimeline } from '../connection.ts';
import { HistoryMemory } from '../history-memory.ts';
import type { BinaryDecoder } from '../messages.ts';
import { candidatesFor, signsMet } from '../profile/candidates.ts';
import { parsePlace } from '../profile/place.ts';
import type { Profile } from '../profile/profile.ts';
import { SpareScanner } from '../sse/spare-scanner.ts';
import { ClientConnection } from './client-connection.ts';
import type { Engine, Identity } from './engine.ts';
import { subjectOf } from './facts.ts';
import { profilesOf } from './options.ts';
import { StreamRegistry } from './registry.ts';
import { factsOf } from './request-facts.ts';

export interface TimelineOptions {
  /** The user's own profiles; they come before the built-ins. */
  readonly profiles?: readonly Profile[];
  /** L2: milliseconds within which a request without cursor continues a dropped one. 60,000. */
  readonly reconnectWindow?: number;
  /** Default `payload`. */
  readonly identity?: Identity;
  /** L4: overrides the key; `undefined` leaves it to the rules. */
  readonly streamKey?: (request: StreamRequest) => string | undefined;
  /** Closed logical streams to remember. Default 4,096. */
  readonly closedStreams?: number;
  /** Events remembered over all open streams, shared among them; each keeps 64. Default 8,192. */
  readonly history?: number;
  /** Asked for anew with each connection. */
  readonly decodeBinary?: BinaryDecoder | undefined;
  readonly observer: StreamObserver;
}

/** Milliseconds. */
export const RECONNECT_WINDOW = 60_000;
const CLOSED_STREAMS = 4096;

/** @throws SyntaxError when a profile of the options cannot be read. */
export function createClientTimeline(options: TimelineOptions): StreamTimeline {
  const engine = createEngine(options);
  return {
    open: (request, at) => new ClientConnection(engine, request, at),
    wants: (request) => wants(engine, request),
  };
}

function createEngine(options: TimelineOptions): Engine {
  const { identity = 'payload' } = options;
  const history = new HistoryMemory(options.history);
  return {
    ...profilesOf(options.profiles),
    history,
    scanners: new SpareScanner({ payload: identity === 'id' ? 'none' : 'hash' }),
    identity: typeof identity === 'string' ? identity : 'payload',
    identityKeys: typeof identity === 'string' ? [] : identity.map(parsePlace),
    streamKey: options.streamKey,
    observer: options.observer,
    get decodeBinary() {
      return options.decodeBinary;
    },
    registry: new StreamRegistry({
      reconnectWindow: options.reconnectWindow ?? RECONNECT_WINDOW,
      closedStreams: options.closedStreams ?? CLOSED_STREAMS,
      history,
    }),
  };
}

/** A cursor in a header, or a profile that shows itself in the request. */
function wants(engine: Engine, request: StreamRequest): boolean {
  if (!engine.mayCarryCursor(request)) return false;
  if (request.header('last-event-id')) return true;
  const facts = factsOf(request, engine.requestHeaders);
  const { confirmed, open } = candidatesFor(engine.profiles, request.transport, request.target);
  if (confirmed !== undefined) return true;
  const subject = subjectOf({ request: facts, responseHeaders: new Map(), status: undefined }, []);
  return open.some((profile) => signsMet(profile, subject) !== 0);
}
