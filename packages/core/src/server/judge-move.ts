import { distanceFromWanted } from '../cursor/relate.ts';
import type { Migration, MigrationOutcome } from '../migration.ts';
import { migrationOutcome } from '../migration.ts';
import type { Move } from '../timeline/logical-stream.ts';
import type { Count, Verdict } from '../verdict.ts';
import type { ServerEvidence } from './classify-server.ts';
import { missedByServer } from './classify-server.ts';

/** What a server knows of a move to a WebSocket at its first frame. */
export interface JudgedMove {
  readonly migration: Migration;
  readonly missed: Count;
}

/**
 * M2: what was sent, less what the client says it has processed, less what comes first on the
 * WebSocket. Positions without holes tell it even where nothing was sent to anybody in between, of
 * which the verdict knows nothing (V9).
 * @param evidence `undefined` when no cursor crossed over.
 */
export function judgeMove(
  { askedAt }: Move,
  evidence: ServerEvidence | undefined,
  verdict: Verdict | undefined,
): JudgedMove {
  const { outcome, missed } = judge(evidence, verdict);
  return { migration: { from: 'sse', to: 'websocket', outcome, askedAt }, missed };
}

function judge(
  evidence: ServerEvidence | undefined,
  verdict: Verdict | undefined,
): { readonly outcome: MigrationOutcome; readonly missed: Count } {
  if (evidence === undefined || verdict === undefined) {
    return { outcome: 'unverifiable', missed: 'unknown' };
  }
  const known = missedByServer(verdict, evidence);
  const missed = lossIn(evidence);
  const outcome = migrationOutcome(verdict);
  if (outcome === 'refused' || missed === undefined) return { outcome, missed: known };
  if (missed > 0) return { outcome: 'lossy', missed };
  return outcome === 'unverifiable' ? { outcome: 'replayed', missed } : { outcome, missed: known };
}

/** By positions without holes; `undefined` where these are none. */
function lossIn({ first }: ServerEvidence): number | undefined {
  const relation = first?.relation;
  const beyond = relation?.dense ? distanceFromWanted(relation) : undefined;
  if (beyond === undefined || beyond < 0n) return undefined;
  return Number(beyond);
}
