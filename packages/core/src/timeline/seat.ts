import type { StreamRequest, Transport } from '../connection.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Engine } from './engine.ts';
import type { ConnectionFacts } from './facts.ts';
import { keyOf, keyTagOf, whereaboutsOf } from './key.ts';
import type { Claim } from './lane-evidence.ts';
import type { Handover, LogicalStream, Move, OpenConnection } from './logical-stream.ts';
import { acceptsMove, announcesMove, mayMove } from './move.ts';
import type { Association } from './registry.ts';
import type { RequestFacts } from './request-facts.ts';
import type { Leaving } from './standing.ts';

/** Where a connection sits: the logical stream it continues, and its place in the row there. */
export class Seat {
  stream: LogicalStream | undefined;
  ordinal = 0;
  previous: unknown;
  isReconnect = false;
  /** M1: set where this connection takes the stream from SSE to a WebSocket. */
  move: Move | undefined;
  /** Milliseconds: when the request was made. */
  readonly at: number;
  readonly #engine: Engine;
  readonly #connection: OpenConnection;
  #ownKey: string | undefined;
  #cursor: string | undefined;
  #handover: Handover | undefined;
  #carries = false;

  constructor(engine: Engine, connection: OpenConnection, at: number) {
    this.#engine = engine;
    this.#connection = connection;
    this.at = at;
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
      this.rise();
      stream.join(this.#connection);
      this.ordinal = stream.connections++;
    }
    this.stream = stream;
    this.#cursor = cursor;
    this.previous = found.previous ?? this.previous;
    this.isReconnect = found.reconnect || request.held !== undefined;
    stream.main.lastId ??= request.held?.cursor;
    stream.main.heldUntold ??= request.held?.epoch;
    if (stream !== before || !this.#carries) this.#lookForMove(request, stream);
    return stream;
  }

  /** M3: the cursor of the request, else the one that crossed over before it. */
  handedOver(claim: Claim): Claim {
    if (claim.cursor !== undefined || this.#handover === undefined) return claim;
    return { cursor: this.#handover.cursor, epoch: claim.epoch ?? this.#handover.epoch };
  }

  /** The response opens a stream: from now on this connection carries it. */
  carry(transport: Transport): void {
    this.#carries = true;
    if (this.stream === undefined) return;
    this.stream.transport = transport;
    this.stream.handover = undefined;
  }

  /** M1: whether all that was asked for, and granted, is a move that another request will make. */
  announces(facts: ConnectionFacts, profile: CompiledProfile, status: number): boolean {
    if (!announcesMove(facts.request) || !acceptsMove(status)) return false;
    if (this.stream && this.move) this.stream.handover = { ...this.move, ...facts.claim(profile) };
    // No stream and no refusal: there is nothing to judge yet.
    this.isReconnect = false;
    return true;
  }

  #lookForMove(request: RequestFacts, stream: LogicalStream): void {
    const moves = this.isReconnect && stream.transport === 'sse' && mayMove(request);
    const announced = moves ? stream.handover : undefined;
    const isRecent = announced && this.#engine.registry.isRecent(announced.askedAt, this.at);
    this.#handover = isRecent ? announced : undefined;
    this.move = moves ? { askedAt: this.#handover?.askedAt ?? this.at } : undefined;
    if (this.#carries) this.carry(request.transport);
    if (!moves) return;
    // The connection that is left may be open still, and then only it knows how far it came.
    const [left] = stream.open.filter((other) => other !== this.#connection);
    if (left?.cursor !== undefined) stream.main.lastId = left.cursor;
  }

  /** @param counts false for an attempt that brought no connection: nothing is remembered of it. */
  leave(counts: boolean, { registry, connection, end, at = this.at }: Leaving): void {
    const { stream } = this;
    if (stream === undefined) return;
    if (counts) {
      registry.left(stream, connection, { end, at });
      return;
    }
    stream.leave(connection);
    stream.connections--;
    if (stream.wasLeft) registry.closed(stream);
    else registry.discard(stream);
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
      where: whereaboutsOf(request),
      at: this.at,
      current: this.stream,
    });
  }

  /** Leaves the stream as if it had never been taken. */
  rise(): void {
    const { stream } = this;
    if (stream === undefined) return;
    stream.leave(this.#connection);
    stream.connections--;
    this.#engine.registry.discard(stream);
    this.stream = undefined;
    this.previous = undefined;
    this.isReconnect = false;
  }
}
