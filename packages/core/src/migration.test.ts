import { describe, expect, it } from 'vitest';
import { migrationLoss, planMigration, SessionMigrationGapError } from './migration.ts';

const positions = (oldest: bigint, newest: bigint, processed: bigint) => ({
  oldest,
  newest,
  processed,
});

describe('a session that moves from SSE to a WebSocket', () => {
  it('M2: owes what is buffered after the processed cursor as the first frames', () => {
    const plan = planMigration(positions(1n, 13n, 10n));
    expect(plan).toEqual({ action: 'replay', from: 11n, to: 13n, count: 3 });
  });

  it('M2: owes nothing to a client that has processed everything', () => {
    expect(planMigration(positions(4n, 13n, 13n))).toMatchObject({ action: 'replay', count: 0 });
    expect(planMigration(positions(14n, 13n, 13n))).toMatchObject({ action: 'replay', count: 0 });
  });

  it('M2: is refused with 409 where the buffer cannot cover the gap', () => {
    const ring = positions(13n, 20n, 10n);
    expect(planMigration(ring)).toEqual({ action: 'refuse', status: 409, missing: 2 });
    const error = new SessionMigrationGapError(ring, 2);
    expect(error).toMatchObject({ name: 'SessionMigrationGapError', status: 409, missing: 2 });
    expect(error.message).toContain('2 event(s) would be lost');
  });

  it('M2: is refused where the cursor is ahead of the log: it names another log', () => {
    expect(planMigration(positions(1n, 5n, 10n))).toMatchObject({ action: 'refuse', missing: 0 });
  });

  it('M4: loses exactly what was sent and neither handed over nor replayed', () => {
    expect(migrationLoss(13n, 10n, 0)).toBe(3);
    expect(migrationLoss(13n, 10n, 3)).toBe(0);
    expect(migrationLoss(13n, 10n, 9)).toBe(0);
  });
});
