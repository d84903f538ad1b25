import { AsyncLocalStorage } from 'node:async_hooks';
import { diag } from '@opentelemetry/api';
import type { Continuity, FoundCursor } from '@sameriver/core';
import { describeContinuity } from '@sameriver/core';
import type { ContinuitySource, ReplayWindow } from '@sameriver/telemetry/continuity';
import { watchReplayWindow } from '@sameriver/telemetry/continuity';
import { createEpoch } from './epoch.ts';
import type { EventStore, ReplayOptions } from './event-store.ts';
import { aliasOf, isPriming, streamIdOf } from './event-store.ts';
import { Journal } from './journal.ts';
import type { ReplayCheck, ReplayFinding } from './replay-check.ts';
import {
  checkByJournal,
  checkByLog,
  incomplete,
  isUnsatisfied,
  unchecked,
} from './replay-check.ts';

export interface ContinuityLogOptions {
  /**
   * Names the incarnation of the log, and is kept where the log is kept: it stays when a process
   * restarts or another one reads the log, and changes when the log is lost. `in-memory`: the log is
   * in this process alone and began with this wrapper.
   */
  readonly epoch: 'in-memory' | (() => string | Promise<string>);
  /**
   * Where a cursor stands in the log. Without it, a replay is checked against the ids that were
   * stored through this wrapper: enough for a log in memory, not for one that others write too.
   */
  readonly find?: (eventId: string) => FoundCursor | Promise<FoundCursor>;
  /**
   * `refuse`: a cursor that cannot be honoured is answered by the SDK with 400, and the client keeps
   * it. `replay`, the default: with whatever the store sends, and the header says so.
   */
  readonly onUnsatisfiable?: 'replay' | 'refuse';
  /** The fill of the log, for `event_stream.server.replay_window.usage` and `.limit`. */
  readonly getReplayWindow?: () => ReplayWindow | undefined;
  /** Event ids are integers without holes on each stream: then a loss can be counted. */
  readonly dense?: boolean;
  /** Ids to remember, over all streams. Default 8,192. */
  readonly journal?: number;
}

/** An event store that can say how an answer continues its stream: give it to `continuity`. */
export type ContinuityEventStore<Message extends object> = EventStore<Message> & ContinuitySource;

/**
 * Wraps the event store of an MCP server, SDK 1.x or 2.x. The events and their ids stay those of
 * the store. Each replay is checked against the log, so that the answer can prove that it goes on:
 *
 * ```js
 * const eventStore = withContinuity(new MyEventStore(), { epoch: 'in-memory' });
 * const transport = new StreamableHTTPServerTransport({ eventStore, sessionIdGenerator });
 * app.all('/mcp', (request, response) => {
 *   continuity(response, eventStore);
 *   return transport.handleRequest(request, response, request.body);
 * });
 * ```
 *
 * Priming events are not replayed (the SDKs would write them as messages that are none), and the
 * standalone stream can be resumed also with stores that keep the stream inside the event id.
 *
 * @throws TypeError when `store` is no event store or `options.epoch` is missing.
 */
export function withContinuity<Message extends object>(
  store: EventStore<Message>,
  options: ContinuityLogOptions,
): ContinuityEventStore<Message> {
  requireStore(store);
  const log = new ContinuityLog(store, options);
  watchWindow(options);
  const wrapped: ContinuityEventStore<Message> = {
    storeEvent: (streamId, message) => log.store(streamId, message),
    replayEventsAfter: (cursor, replay) => log.replay(cursor, replay),
    answering: (cursor) => log.answering(cursor),
  };
  const refuses = options.onUnsatisfiable === 'refuse';
  // With this method the SDKs refuse a cursor of which it knows no stream, which is for the
  // application to choose.
  if (refuses || store.getStreamIdForEventId !== undefined) {
    wrapped.getStreamIdForEventId = (eventId) => log.streamOf(eventId, refuses);
  }
  return wrapped;
}

interface Answer {
  said: Continuity | undefined;
}

const DEFAULT_JOURNAL = 8192;
const UNCHECKED: ReplayFinding = { kind: 'unchecked' };

class ContinuityLog<Message extends object> {
  readonly #inner: EventStore<Message>;
  readonly #options: ContinuityLogOptions;
  readonly #epoch: ReturnType<typeof createEpoch>;
  readonly #journal: Journal;
  readonly #answers: AsyncLocalStorage<Answer> = new AsyncLocalStorage();
  readonly #needsAlias: boolean;

  constructor(inner: EventStore<Message>, options: ContinuityLogOptions) {
    this.#inner = inner;
    this.#options = options;
    this.#epoch = createEpoch(options.epoch);
    this.#journal = new Journal(options.journal ?? DEFAULT_JOURNAL);
    this.#needsAlias = inner.getStreamIdForEventId === undefined;
  }

  answering(cursor: string | undefined): () => Continuity {
    const answer: Answer = { said: undefined };
    this.#answers.enterWith(answer);
    return () => answer.said ?? describeContinuity(cursor, { epoch: this.#epoch.known() });
  }

  async store(streamId: string, message: Message): Promise<string> {
    const stream = this.#needsAlias ? aliasOf(streamId) : streamId;
    const id = await this.#inner.storeEvent(stream, message);
    this.#journal.note(streamId, id, isPriming(message));
    return id;
  }

  async replay(cursor: string, { send }: ReplayOptions<Message>): Promise<string> {
    const check = await this.#checkFor(cursor);
    const stream = await this.#inner.replayEventsAfter(cursor, {
      send: async (id, message) => {
        if (isPriming(message)) return;
        check.sent(id);
        await send(id, message);
      },
    });
    const answer = this.#answers.getStore();
    if (answer !== undefined) answer.said = await this.#describe(cursor, check.finding());
    return streamIdOf(stream);
  }

  async streamOf(eventId: string, refuses: boolean): Promise<string | undefined> {
    if (refuses && isUnsatisfied(await this.#rehearse(eventId))) return undefined;
    const stream = await this.#inner.getStreamIdForEventId?.(eventId);
    return stream === undefined ? this.#journal.find(eventId)?.stream : streamIdOf(stream);
  }

  /** A refusal comes before the replay: where the log cannot be asked, it is replayed to nobody. */
  async #rehearse(cursor: string): Promise<ReplayFinding> {
    const check = await this.#checkFor(cursor);
    if (this.#options.find !== undefined) return (await this.#ask(cursor)) ?? UNCHECKED;
    await this.#inner.replayEventsAfter(cursor, {
      send: async (id, message) => {
        if (!isPriming(message)) check.sent(id);
      },
    });
    return check.finding();
  }

  /** A log that cannot be asked leaves the replay to the store, and nothing is claimed of it. */
  async #ask(cursor: string): Promise<FoundCursor | undefined> {
    try {
      return await this.#options.find?.(cursor);
    } catch (error) {
      diag.warn('withContinuity: find() failed', error);
      return undefined;
    }
  }

  async #checkFor(cursor: string): Promise<ReplayCheck> {
    const { find, epoch } = this.#options;
    if (find !== undefined) {
      const found = await this.#ask(cursor);
      return found === undefined ? unchecked() : checkByLog(found);
    }
    const entry = this.#journal.find(cursor);
    if (entry !== undefined) return checkByJournal(entry, (of) => this.#journal.lastOf(of));
    const isUnknown = epoch === 'in-memory' && this.#journal.isWhole;
    return unchecked(isUnknown ? { kind: 'unknown' } : undefined);
  }

  async #describe(cursor: string, finding: ReplayFinding): Promise<Continuity> {
    const epoch = await this.#epoch.read();
    if (finding.kind === 'incomplete') return incomplete(cursor, epoch);
    const found = finding.kind === 'unchecked' ? undefined : finding;
    const { dense, getReplayWindow } = this.#options;
    return describeContinuity(cursor, { epoch, found, dense, window: getReplayWindow?.()?.limit });
  }
}

function requireStore(store: Partial<EventStore>): void {
  for (const method of ['storeEvent', 'replayEventsAfter'] as const) {
    if (typeof store[method] !== 'function') {
      throw new TypeError(`withContinuity: the event store has no ${method}()`);
    }
  }
}

const PROTOCOL = 'mcp_streamable_http';

/** A store of one session is dropped with it, and must not stay for the sake of a gauge. */
function watchWindow({ getReplayWindow }: ContinuityLogOptions): void {
  if (getReplayWindow === undefined) return;
  const held = new WeakRef(getReplayWindow);
  const stop = watchReplayWindow(() => {
    const read = held.deref();
    if (read === undefined) stop();
    const window = read?.();
    return window && { protocol: PROTOCOL, ...window };
  });
}
