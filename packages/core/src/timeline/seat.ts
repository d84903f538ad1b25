import type { ConnectionEnd, StreamRequest } from '../connection.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Engine } from './engine.ts';
import { keyOf, keyTagOf, placeOf } from './key.ts';
import type { LogicalStream, OpenConnection } from './logical-stream.ts';
import type { Association } from './registry.ts';
import type { RequestFacts } from './request-facts.ts';

/** Where a connection sits: the logical stream it continues, and its place in the row there. */
export class Seat {
  stream: LogicalStream | undefined;
  ordinal = 0;
  previous: unknown;
  isReconnect = false;
  readonly #engine: Engine;
  readonly #connection: OpenConnection;
  readonly #at: number;
  #ownKey: string | undefined;
  #cursor: string | undefined;

  constructor(engine: Engine, connection: OpenConnection, at: number) {
    this.#engine = engine;
    this.#connection = connection;
    this.#at = at;
    engine.history.opened();
  }

  /** L4: the application's own key, asked for while the request can be read. */
  askKey(request: StreamRequest): void {
    this.#ownKey ??= this.#engine.streamKey?.(request);
  }

  keyFor(request: RequestFacts, profile: CompiledProfile | undefined): number {
    if (this.#ownKey !== undefined) return keyTagOf(`key ${this.#ownKey}`);
    const isGeneric = profile === this.#engine.generic[request.transport];
    return keyTagOf(keyOf(request, isGeneric ? undefined : profile));
  }

  /**
   * Finds the stream; asked again when a profile is confirmed, because key and cursor may differ.
   * @param keyed the profile whose key finds the stream; it may be a presumption still.
   */
  take(
    request: RequestFacts,
    keyed: CompiledProfile,
    profile: CompiledProfile,
    cursor: string | undefined,
  ): LogicalStream {
    const before = this.stream;
    const found = this.#stays(cursor) ?? this.#find(request, keyed, profile, cursor);
    const { stream } = found;
    if (stream !== before) {
      if (before !== undefined) this.#rise(before);
      stream.join(this.#connection);
      this.ordinal = stream.connections++;
    }
    this.stream = stream;
    this.#cursor = cursor;
    this.previous = found.previous ?? this.previous;
    this.isReconnect = found.reconnect;
    return stream;
  }

  /**
   * @param counts false for an attempt that brought no connection: nothing is remembered of it.
   * @param at milliseconds.
   */
  leave(counts: boolean, end: ConnectionEnd, at: number = this.#at): void {
    this.#engine.history.closed();
    const { stream } = this;
    if (stream === undefined) return;
    const { cursor, context } = this.#connection;
    stream.leave(this.#connection);
    if (counts) stream.remember({ end, at, cursor, context });
    else stream.connections--;
    if (counts || stream.ended.length > 0) this.#engine.registry.closed(stream);
    else this.#engine.registry.discard(stream);
  }

  /** A predecessor that was found stays, unless another cursor has come to light. */
  #stays(cursor: string | undefined): Association | undefined {
    const { stream, previous } = this;
    const same = stream !== undefined && this.isReconnect && cursor === this.#cursor;
    return same ? { stream, reconnect: true, previous } : undefined;
  }

  #find(
    request: RequestFacts,
    keyed: CompiledProfile,
    profile: CompiledProfile,
    cursor: string | undefined,
  ): Association {
    return this.#engine.registry.associate({
      request,
      profile,
      cursor,
      key: this.keyFor(request, keyed),
      place: keyTagOf(placeOf(request)),
      at: this.#at,
      current: this.stream,
    });
  }

  #rise(stream: LogicalStream): void {
    stream.leave(this.#connection);
    stream.connections--;
    this.#engine.registry.discard(stream);
  }
}
