import type { Transport } from '../connection.ts';
import { candidatesFor, isConfirmed, mayBeConfirmed, signsMet } from '../profile/candidates.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Subject } from '../profile/place.ts';
import type { Engine } from './engine.ts';
import type { LogicalStream } from './logical-stream.ts';
import type { RequestFacts } from './request-facts.ts';
import type { Seat } from './seat.ts';

/** A profile that no sign confirmed within so many frames is given up. */
const FRAMES_FOR_SIGNS = 8;
const NONE: readonly never[] = [];

/** Which protocol a connection speaks, as far as its signs have told. */
export class ProfileChoice {
  /** In force: generic until something more specific is confirmed. */
  profile: CompiledProfile;
  #open: readonly CompiledProfile[] = NONE;
  #frames = 0;
  readonly #engine: Engine;
  readonly #transport: Transport;

  constructor(engine: Engine, transport: Transport) {
    this.#engine = engine;
    this.#transport = transport;
    this.profile = engine.generic[transport];
  }

  /** A more specific protocol may still show itself. */
  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  get isGeneric(): boolean {
    return this.profile === this.#engine.generic[this.#transport];
  }

  /** Something looks into the frames: a candidate, the profile in force, the identity of events. */
  get readsText(): boolean {
    const { identity, identityKeys } = this.#engine;
    const looks = this.isOpen || this.profile.readsEvents;
    return looks || identityKeys.length > 0 || identity === 'canonical-json';
  }

  /**
   * Starts with the request, or again with its body: the profile of the stream it continues, a
   * user's without signs, or the generic one.
   * @returns the profile whose key finds the stream; it may be a presumption still.
   */
  start(request: RequestFacts, subject: Subject, seat: Seat): CompiledProfile {
    const { profiles, registry, generic } = this.#engine;
    this.profile = generic[this.#transport];
    this.#open = NONE;
    const { confirmed, open } = candidatesFor(profiles, this.#transport, request.target);
    const keyFor = (profile: CompiledProfile | undefined): number => seat.keyFor(request, profile);
    const shown = open.filter((profile) => signsMet(profile, subject) !== 0);
    const returning = shown.find((profile) => registry.profileOf(keyFor(profile)) === profile);
    const presumed = confirmed ?? returning ?? shown[0];
    const known = registry.profileOf(keyFor(presumed));
    const fits = known?.transport === undefined || known.transport === this.#transport;
    if (known !== undefined && fits) this.profile = known;
    else if (confirmed !== undefined) this.profile = confirmed;
    else this.#open = open;
    return presumed ?? this.profile;
  }

  /**
   * Collects signs on the stream, where those of its earlier connections stand too.
   * @param see what each candidate gets to look at.
   * @returns true when one of them is confirmed and in force now.
   */
  meetSigns(stream: LogicalStream, see: (profile: CompiledProfile) => readonly Subject[]): boolean {
    for (const profile of this.#open) {
      const before = stream.signs?.get(profile) ?? 0;
      let mask = before;
      for (const subject of see(profile)) mask |= signsMet(profile, subject);
      if (mask !== before) {
        stream.signs ??= new Map();
        stream.signs.set(profile, mask);
      }
      if (!isConfirmed(profile, mask)) continue;
      this.profile = profile;
      this.#open = NONE;
      stream.signs = undefined;
      return true;
    }
    return false;
  }

  /** Without a single sign by the time the headers are in, frames are not worth reading. */
  headersRead(stream: LogicalStream): void {
    const open = this.#open.filter((profile) => {
      const mask = stream.signs?.get(profile) ?? 0;
      if (this.#transport === 'websocket') return mayBeConfirmed(profile, mask);
      return mask !== 0 && (!profile.builtIn || profile.readsFrames);
    });
    this.#open = open.length === 0 ? NONE : open;
  }

  frameRead(): void {
    this.#frames++;
    if (this.#frames >= FRAMES_FOR_SIGNS) this.#open = NONE;
  }

  giveUp(): void {
    this.#open = NONE;
  }

  /** Messages without one sign of a protocol: those of the next connection are not waited for. */
  takeForGeneric(stream: LogicalStream | undefined, messages: number): void {
    if (this.#transport !== 'websocket' || messages === 0 || !this.isGeneric) return;
    if (stream === undefined || stream.signs !== undefined) return;
    this.#engine.registry.confirm(stream, this.profile);
  }
}
