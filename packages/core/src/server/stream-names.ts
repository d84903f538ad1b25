import type { CompiledProfile } from '../profile/compile.ts';
import type { Subject } from '../profile/place.ts';
import { readFirst, readPlace } from '../profile/place.ts';

const REPLIES_REMEMBERED = 64;

/** Which logical stream a frame of one connection speaks for (R19). */
export class StreamNames {
  readonly #replies = new Map<string, string>();

  /** @param own A message of the client, under both of its places. */
  asked(profile: CompiledProfile, own: Subject): string | undefined {
    const name = readFirst(profile.stream, own, profile.separator);
    const reply = profile.reply && readPlace(profile.reply.sent, own, profile.separator);
    if (name !== undefined && reply !== undefined) this.#remember(reply, name);
    return name;
  }

  answered(profile: CompiledProfile, frame: Subject): string | undefined {
    const name = readFirst(profile.stream, frame, profile.separator);
    if (name !== undefined || profile.reply === undefined) return name;
    const reply = readPlace(profile.reply.received, frame, profile.separator);
    return reply === undefined ? undefined : this.#replies.get(reply);
  }

  #remember(reply: string, name: string): void {
    this.#replies.set(reply, name);
    const [oldest] = this.#replies.keys();
    if (this.#replies.size > REPLIES_REMEMBERED && oldest !== undefined) {
      this.#replies.delete(oldest);
    }
  }
}
