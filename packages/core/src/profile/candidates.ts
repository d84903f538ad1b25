import type { Transport } from '../connection.ts';
import type { CompiledProfile } from './compile.ts';
import { holds } from './condition.ts';
import type { PlaceSource, Subject } from './place.ts';

/** Profiles that a request might belong to; those without signs of their own belong at once. */
export interface Candidates {
  readonly confirmed: CompiledProfile | undefined;
  readonly open: readonly CompiledProfile[];
}

/** @param path path and query, as `match.path` wants them. */
export function candidatesFor(
  profiles: readonly CompiledProfile[],
  transport: Transport,
  path: string,
): Candidates {
  const open: CompiledProfile[] = [];
  for (const profile of profiles) {
    if (profile.transport !== undefined && profile.transport !== transport) continue;
    if (profile.path !== undefined && !profile.path.test(path)) continue;
    if (profile.signs.length === 0) return { confirmed: profile, open };
    open.push(profile);
  }
  return { confirmed: undefined, open };
}

/** Bit mask of the signs that hold now. */
export function signsMet(profile: CompiledProfile, subject: Subject): number {
  let mask = 0;
  for (const [index, sign] of profile.signs.entries()) {
    if (holds(sign.condition, subject)) mask |= 1 << index;
  }
  return mask;
}

/** A built-in wants two signs, one of them from the server; a user's profile wants what it says. */
export function isConfirmed(profile: CompiledProfile, mask: number): boolean {
  let met = 0;
  let fromServer = false;
  for (const [index, sign] of profile.signs.entries()) {
    if ((mask & (1 << index)) === 0) continue;
    met++;
    fromServer ||= sign.fromServer;
  }
  return met >= profile.signsNeeded && (fromServer || !profile.builtIn);
}

const IN_FRAMES: ReadonlySet<PlaceSource> = new Set<PlaceSource>([
  'json',
  'sent-json',
  'sse',
  'close',
]);

/**
 * Whether frames may still confirm what headers have not. Most protocols show themselves in the
 * handshake or never, and each that stays a candidate costs a look at every frame.
 * @param mask signs met so far, once request and response headers are known.
 */
export function mayBeConfirmed(profile: CompiledProfile, mask: number): boolean {
  let within = 0;
  for (const [index, { condition }] of profile.signs.entries()) {
    const isMet = (mask & (1 << index)) !== 0;
    if (isMet || condition.parts.some(({ source }) => IN_FRAMES.has(source))) within++;
  }
  return within >= profile.signsNeeded;
}
