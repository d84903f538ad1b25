import { candidatesFor, isConfirmed, mayBeConfirmed, signsMet } from '../profile/candidates.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Subject } from '../profile/place.ts';
import type { Protocol } from '../timeline/message-order.ts';

/** A profile that no sign confirmed within so many frames is given up. */
const FRAMES_FOR_SIGNS = 8;
const NONE: readonly CompiledProfile[] = [];

/** For a protocol that is beyond doubt. */
export function readAs(profile: CompiledProfile): Protocol {
  return { profile, isOpen: false, frameRead() {}, giveUp() {} };
}

/** Which protocol an accepted WebSocket speaks, as far as its signs have told. */
export class ServerChoice implements Protocol {
  /** In force: generic until something more specific is confirmed. */
  profile: CompiledProfile;
  #open: readonly CompiledProfile[];
  #frames = 0;
  readonly #met = new Map<CompiledProfile, number>();

  /** @param target path and query of the handshake. */
  constructor(profiles: readonly CompiledProfile[], generic: CompiledProfile, target: string) {
    const { confirmed, open } = candidatesFor(profiles, 'websocket', target);
    this.profile = confirmed ?? generic;
    this.#open = open.length === 0 ? NONE : open;
  }

  /** A more specific protocol may still show itself. */
  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  /** @returns true when a candidate is confirmed by what it sees, and in force now. */
  meetSigns(see: (profile: CompiledProfile) => readonly Subject[]): boolean {
    for (const profile of this.#open) {
      let mask = this.#met.get(profile) ?? 0;
      for (const subject of see(profile)) mask |= signsMet(profile, subject);
      this.#met.set(profile, mask);
      if (!isConfirmed(profile, mask)) continue;
      this.profile = profile;
      this.giveUp();
      return true;
    }
    return false;
  }

  /** What the headers have ruled out is not looked for in frames. */
  headersRead(): void {
    const open = this.#open.filter((profile) =>
      mayBeConfirmed(profile, this.#met.get(profile) ?? 0),
    );
    this.#open = open.length === 0 ? NONE : open;
  }

  frameRead(): void {
    this.#frames++;
    if (this.#frames >= FRAMES_FOR_SIGNS) this.giveUp();
  }

  giveUp(): void {
    this.#open = NONE;
    this.#met.clear();
  }
}
