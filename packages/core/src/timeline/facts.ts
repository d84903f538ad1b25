import { readContinuity } from '../continuity.ts';
import { twinFor } from '../continuity-twin.ts';
import { parseWith } from '../cursor/relate.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { ContinuityMembers, Lookup, Subject } from '../profile/place.ts';
import { readFirst, resolvePointer } from '../profile/place.ts';
import type { Claim } from './lane-evidence.ts';
import { NO_CLAIM } from './lane-evidence.ts';
import type { RequestFacts } from './request-facts.ts';

const NO_HEADERS: ReadonlyMap<string, string> = new Map();

/** What request and response headers say; every subject of the connection builds on it. */
export interface HeaderFacts {
  readonly request: RequestFacts;
  readonly responseHeaders: ReadonlyMap<string, string>;
  readonly status: number | undefined;
}

/** @param sent JSON messages of the client, oldest first. */
export function subjectOf(facts: HeaderFacts, sent: readonly unknown[]): Subject {
  const { request, responseHeaders } = facts;
  return {
    requestHeader: lookupIn(request.headers),
    query: lookupIn(request.query),
    responseHeader: lookupIn(responseHeaders),
    sentJson: sent.length === 0 ? undefined : latestOf(sent),
    path: request.target,
    status: facts.status,
  };
}

const NOTHING: Lookup = () => undefined;

// Most connections of a storm have no query and none of the headers that some profile reads.
function lookupIn(values: ReadonlyMap<string, string>): Lookup {
  return values.size === 0 ? NOTHING : lookup(values);
}

function lookup(values: ReadonlyMap<string, string>): Lookup {
  return (name) => values.get(name);
}

function latestOf(sent: readonly unknown[]): NonNullable<Subject['sentJson']> {
  return (pointer) => {
    for (let i = sent.length - 1; i >= 0; i--) {
      const [value] = resolvePointer(sent[i], pointer);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

/** The subject with other messages of the client under it. A frame's getters do not survive. */
export function withSent(base: Subject, sent: readonly unknown[]): Subject {
  const { requestHeader, query, responseHeader, continuity, path, status } = base;
  return {
    requestHeader,
    query,
    responseHeader,
    continuity,
    path,
    status,
    sentJson: latestOf(sent),
  };
}

/** Start tokens and empty values are no cursor; an empty token is none. */
export function claimOf(profile: CompiledProfile, subject: Subject): Claim {
  const { separator, start, choices } = profile;
  const text = readFirst(profile.cursorSent, subject, separator);
  const cursor = text === undefined || text === '' || start.has(text) ? undefined : text;
  const position = cursor === undefined ? undefined : parseWith(choices, cursor);
  const { epochSent } = profile;
  const epoch =
    epochSent.length === 0 ? undefined : readFirst(epochSent, { ...subject, position }, separator);
  return cursor === undefined && !epoch ? NO_CLAIM : { cursor, epoch: epoch || undefined };
}

export function continuityOf(facts: HeaderFacts, claim: Claim): ContinuityMembers | undefined {
  return readContinuity(facts.responseHeaders.get('stream-continuity'), claim.cursor);
}

/** What one connection of a client has said and heard outside of its frames. */
export class ConnectionFacts {
  #headers: HeaderFacts;
  #sent: readonly unknown[];
  #twin: ContinuityMembers | undefined;

  constructor(request: RequestFacts) {
    this.#headers = { request, responseHeaders: NO_HEADERS, status: undefined };
    this.#sent = bodyOf(request);
  }

  get request(): RequestFacts {
    return this.#headers.request;
  }

  get status(): number | undefined {
    return this.#headers.status;
  }

  /** L6: the key is the first request's, the cursor the last one's. */
  redirected(next: RequestFacts): void {
    const { path, target, method } = this.request;
    const request = { ...next, path, target, method };
    this.#headers = { request, responseHeaders: NO_HEADERS, status: undefined };
    this.#sent = bodyOf(next);
  }

  /** @returns whether a body has come to light only now: it is sent after the request has begun. */
  answered(status: number, responseHeaders: ReadonlyMap<string, string>): boolean {
    this.#headers = { request: this.request, responseHeaders, status };
    if (this.#sent.length > 0) return false;
    this.#sent = bodyOf(this.request);
    return this.#sent.length > 0;
  }

  /** What the first frame of the body says in the place of the header. */
  told(twin: ContinuityMembers): void {
    this.#twin = twin;
  }

  claim(profile: CompiledProfile): Claim {
    return claimOf(profile, subjectOf(this.#headers, this.#sent));
  }

  subject(profile: CompiledProfile): Subject {
    const subject = subjectOf(this.#headers, this.#sent);
    const twin = this.#twin;
    if (twin !== undefined) {
      return { ...subject, continuity: twinFor(twin, claimOf(profile, subject).cursor) };
    }
    if (!this.#headers.responseHeaders.has('stream-continuity')) return subject;
    return { ...subject, continuity: continuityOf(this.#headers, claimOf(profile, subject)) };
  }
}

/** What the client sent along with its request. */
export function bodyOf({ body }: RequestFacts): readonly unknown[] {
  const value = body?.();
  return value === undefined ? [] : [value];
}
