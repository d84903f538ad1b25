import type { StreamRequest } from '../connection.ts';
import { BUILT_IN_PROFILES } from '../profile/built-in.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import { compileProfile } from '../profile/compile.ts';
import type { Profile } from '../profile/profile.ts';

export interface KnownProfiles {
  /** In order: the user's, then the specific built-ins. */
  readonly profiles: readonly CompiledProfile[];
  readonly generic: { readonly sse: CompiledProfile; readonly websocket: CompiledProfile };
  readonly continuity: CompiledProfile;
  /** False for most requests at the cost of one search: no profile reads a cursor out of them. */
  readonly mayCarryCursor: (request: StreamRequest) => boolean;
  /** Lower-case names of the headers that some profile reads. */
  readonly requestHeaders: readonly string[];
  readonly responseHeaders: readonly string[];
}

// 6 ms of start-up, of which a process with a timeline for each role and transport needs one.
let compiledBuiltIn: readonly CompiledProfile[] | undefined;

function builtInProfiles(): readonly CompiledProfile[] {
  compiledBuiltIn ??= BUILT_IN_PROFILES.map((profile) => compileProfile(profile, true));
  return compiledBuiltIn;
}

/** @throws SyntaxError when one of the user's profiles cannot be read. */
export function profilesOf(own: readonly Profile[] = []): KnownProfiles {
  const builtIn = builtInProfiles();
  const named = (name: string): CompiledProfile => {
    const found = builtIn.find((profile) => profile.name === name);
    if (found === undefined) throw new TypeError(`built-in profile "${name}" is missing`);
    return found;
  };
  const generic = { sse: named('sse'), websocket: named('websocket') };
  const specific = builtIn.filter((p) => p !== generic.sse && p !== generic.websocket);
  const users = own.map((profile) => compileProfile(profile));
  const all = [...users, ...builtIn];
  return {
    profiles: [...users, ...specific],
    generic,
    continuity: named('stream-continuity'),
    mayCarryCursor: cursorSearch(users, all),
    requestHeaders: [...new Set([...all.flatMap((p) => p.requestHeaders), 'mcp-session-id'])],
    responseHeaders: [...new Set([...all.flatMap((p) => p.responseHeaders), 'stream-continuity'])],
  };
}

/** A user's profile may look anywhere; a built-in reads cursors from one header and from queries. */
function cursorSearch(
  users: readonly CompiledProfile[],
  all: readonly CompiledProfile[],
): KnownProfiles['mayCarryCursor'] {
  const names = [...new Set(all.flatMap((profile) => profile.positionQueries))];
  const inQuery = new RegExp(`[?&](?:${names.map(escapeRegExp).join('|')})=`);
  return ({ header, target }) =>
    users.length > 0 || inQuery.test(target) || Boolean(header('last-event-id'));
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
