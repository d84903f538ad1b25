/** Which log somebody speaks of: by the token of its protocol, and by `gen` of Stream-Continuity. */
export interface Tokens {
  readonly epoch: string | undefined;
  readonly gen: string | undefined;
}

/** Two tokens that may be compared, as far as they are known. */
export interface ComparedEpochs {
  readonly here: string | undefined;
  readonly held: string | undefined;
}

/**
 * Tokens of two kinds say nothing of each other: a server that begins to stamp its answers, or whose
 * header a proxy takes away, is no other log for that.
 */
export function compareTokens(here: Tokens, held: Tokens): ComparedEpochs {
  if (here.gen !== undefined && held.gen !== undefined) return { here: here.gen, held: held.gen };
  const known = here.epoch !== undefined && held.epoch !== undefined;
  const differ = known && here.epoch !== held.epoch;
  if (here.gen === undefined || differ) return { here: here.epoch, held: held.epoch };
  // It names its log for the first time, so an equal session (R17) is no proof that it is the same.
  return { here: here.gen, held: undefined };
}

/**
 * A token that somebody kept who cannot say of which kind it is.
 *
 * @param isSession The protocol's own token is a session id.
 */
export function tokensOfUntold(token: string, here: Tokens, isSession: boolean): Tokens {
  if (token === here.epoch) return { epoch: token, gen: undefined };
  if (here.gen !== undefined) return { epoch: undefined, gen: token };
  return { epoch: isSession ? undefined : token, gen: undefined };
}
