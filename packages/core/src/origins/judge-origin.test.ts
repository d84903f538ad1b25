import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idTagOf } from '../id-tag.ts';
import type { Verdict } from '../verdict.ts';
import type { IssuedIds } from './issued-ids.ts';
import type { DeclaredEpoch, OtherIssuer, OwnFinding } from './judge-origin.ts';
import { asksForOrigin, judgeOrigin } from './judge-origin.ts';

const UNKNOWN_HERE: Verdict = { classification: 'unverifiable', reason: 'cursor_unknown_here' };
const NO_EVENTS: Verdict = { classification: 'unverifiable', reason: 'no_events' };
const NOT_ADVANCED: Verdict = { classification: 'reoriginated', reason: 'cursor_not_advanced' };
const NOT_IN_STORE: Verdict = { classification: 'reoriginated', reason: 'cursor_unknown' };
const OBSERVED: Verdict = { classification: 'resumed', reason: 'replay_observed' };
const STORE_REPLAYED: Verdict = { classification: 'resumed', reason: 'store_replayed' };
const RANDOM_ID = '2f1b8c3e-0b7e-4c57-9d2e-0a1b2c3d4e5f_1764547200123_k3j9x2qa';

const epoch = (text: string | undefined): DeclaredEpoch | undefined =>
  text === undefined ? undefined : { digest: `digest of ${text}`, text };

const counted = (first: number, last: number): IssuedIds => ({ runs: [[first, last]], tags: [] });
const named = (...ids: readonly string[]): IssuedIds => ({ runs: [], tags: ids.map(idTagOf) });

function other(ids: IssuedIds, declared?: string, writtenAgo = 10): OtherIssuer {
  return { instance: `of ${declared}`, epoch: epoch(declared), writtenAgo, ids };
}

function own(verdict: Verdict, cursor: string, declared?: string): OwnFinding {
  const issuedHere = verdict.classification === 'resumed';
  return { verdict, cursor, epoch: epoch(declared), issuedHere, begunAgo: 1_000 };
}

const summary = (finding: OwnFinding, ...others: readonly OtherIssuer[]): string => {
  const { verdict, origin } = judgeOrigin(finding, others);
  const from = origin === undefined ? 'nowhere' : `${origin.instance}, ${origin.eventsAfter} after`;
  return `${verdict.classification} ${verdict.reason}: ${from}`;
};

describe('a cursor that another instance has issued', () => {
  it('X1: is from another log where the epochs differ and the answer falls back', () => {
    const finding = own(NOT_ADVANCED, '4118', 'b');
    expect(judgeOrigin(finding, [other(counted(1, 4140), 'a')])).toEqual({
      verdict: { classification: 'reoriginated', reason: 'epoch_changed' },
      origin: { instance: 'of a', epoch: epoch('a'), newest: 4140, eventsAfter: 22 },
    });
  });

  it('X1: is from another log where the epochs differ and the store says that it is none of its own', () => {
    expect(summary(own(NOT_IN_STORE, RANDOM_ID, 'b'), other(named(RANDOM_ID, 'x', 'y'), 'a'))).toBe(
      'reoriginated epoch_changed: of a, 2 after',
    );
  });

  it.each([
    ['is random', RANDOM_ID, 'a'],
    ['names its epoch', 'boot-17', 'boot'],
  ])(
    'X1: is from another log where the epochs differ and the id %s, before any event',
    (_, id, a) => {
      expect(summary(own(NO_EVENTS, id, 'b'), other(named(id), a))).toBe(
        `reoriginated epoch_changed: of ${a}, 0 after`,
      );
    },
  );

  it.each(['30', '000000000000000000000000000030', 'msg-30', 'a-30'])(
    'X1: accuses nobody of %s, which another instance of the same log may have issued unheard',
    (id) => {
      expect(summary(own(UNKNOWN_HERE, id, 'b'), other(named(id), 'c'))).toBe(
        'unverifiable cursor_unknown_here: of c, 0 after',
      );
    },
  );

  it('X2: is from the same log where the epochs are equal, whoever else has issued it', () => {
    const others = [other(counted(1, 40), 'a', 5), other(counted(20, 31), 'b')];
    expect(summary(own(NOT_ADVANCED, '30', 'b'), ...others)).toBe(
      'reoriginated cursor_not_advanced: of b, 1 after',
    );
    const random = [other(named(RANDOM_ID), 'a', 5), other(named(RANDOM_ID), 'b')];
    expect(summary(own(NO_EVENTS, RANDOM_ID, 'b'), ...random)).toBe(
      'unverifiable no_events: of b, 0 after',
    );
  });

  it.each([
    [undefined, undefined],
    ['b', undefined],
    [undefined, 'a'],
  ])('X3: changes no verdict where the epochs are %s and %s, and says where it is from', (b, a) => {
    expect(summary(own(UNKNOWN_HERE, RANDOM_ID, b), other(named(RANDOM_ID), a))).toBe(
      `unverifiable cursor_unknown_here: of ${a}, 0 after`,
    );
    expect(summary(own(NOT_ADVANCED, '4118', b), other(counted(4000, 4140), a))).toBe(
      `reoriginated cursor_not_advanced: of ${a}, 22 after`,
    );
  });

  it('X6: is said of the one who wrote last', () => {
    const others = [other(counted(1, 40), undefined, 50), other(counted(1, 35), 'late', 5)];
    expect(summary(own(UNKNOWN_HERE, '30'), ...others)).toContain('of late, 5 after');
  });

  it('X3: is said of nobody where this instance has issued it too, or cannot tell', () => {
    for (const issuedHere of [true, undefined]) {
      const finding = { ...own(NOT_ADVANCED, '30', 'b'), issuedHere };
      expect(summary(finding, other(counted(1, 40), 'a'))).toContain(
        'cursor_not_advanced: nowhere',
      );
    }
  });

  it.each([
    ['neither declares an epoch', undefined, undefined],
    ['one declares none', 'b', undefined],
    ['the epochs differ', 'b', 'a'],
  ])('X4: cannot be attributed where both have issued it and %s', (_, b, a) => {
    for (const verdict of [OBSERVED, STORE_REPLAYED]) {
      expect(summary(own(verdict, '13', b), other(counted(1, 20), a))).toBe(
        `unverifiable cursor_issued_elsewhere: of ${a}, 7 after`,
      );
    }
  });

  it('X4: stays resumed where the epochs are equal', () => {
    expect(summary(own(OBSERVED, '13', 'b'), other(counted(1, 20), 'b'))).toBe(
      'resumed replay_observed: nowhere',
    );
  });

  it('X4: stays resumed where the other wrote its last before this log began', () => {
    expect(summary(own(OBSERVED, '13'), other(counted(1, 20), undefined, 1_001))).toBe(
      'resumed replay_observed: nowhere',
    );
  });

  it('X4: stays resumed where the id is random: two that issued it write one log', () => {
    expect(summary(own(OBSERVED, RANDOM_ID), other(named(RANDOM_ID)))).toBe(
      'resumed replay_observed: nowhere',
    );
    expect(summary(own(OBSERVED, RANDOM_ID, 'b'), other(named(RANDOM_ID), 'a'))).toContain(
      'cursor_issued_elsewhere',
    );
  });

  it('is of no interest where others issued only what lies around it', () => {
    const others = [other(counted(1, 12), 'a'), other(counted(14, 20), 'a')];
    expect(summary(own(UNKNOWN_HERE, '13', 'b'), ...others)).toContain('nowhere');
  });
});

it('asks nobody about a refusal, a loss in its own log, or a cursor that it knows', () => {
  const verdicts: readonly Verdict[] = [
    { classification: 'refused', reason: 'stream_gone' },
    { classification: 'reoriginated', reason: 'window_exceeded' },
    { classification: 'reoriginated', reason: 'id_reused' },
    { classification: 'unverifiable', reason: 'no_window' },
  ];
  expect(verdicts.map(asksForOrigin)).toEqual([false, false, false, false]);
  expect([UNKNOWN_HERE, NOT_ADVANCED, OBSERVED].map(asksForOrigin)).toEqual([true, true, true]);
});

/** Instances behind a balancer, each writing one of some logs; an index that hears of them late or never. */
const world = fc
  .record({
    isRandom: fc.boolean(),
    logs: fc.array(fc.record({ declares: fc.boolean() }), { minLength: 1, maxLength: 3 }),
    instances: fc.array(
      fc.record({
        log: fc.nat(2),
        first: fc.integer({ min: 1, max: 20 }),
        last: fc.integer({ min: 1, max: 40 }),
        isHeard: fc.boolean(),
        lag: fc.nat(5),
        writtenAgo: fc.nat(2_000),
      }),
      { minLength: 2, maxLength: 5 },
    ),
    readFrom: fc.nat(4),
    goesTo: fc.nat(4),
    cursor: fc.integer({ min: 1, max: 40 }),
    verdict: fc.constantFrom(UNKNOWN_HERE, NO_EVENTS, OBSERVED, STORE_REPLAYED),
  })
  .map(({ logs, instances, readFrom, goesTo, isRandom, ...rest }) => {
    const writers = instances.map((instance) => ({ ...instance, log: instance.log % logs.length }));
    const at = (index: number): (typeof writers)[number] =>
      writers[index % writers.length] ?? fail('a world has writers');
    const from = at(readFrom);
    const to = at(goesTo);
    const idOf = (log: number, position: number): string =>
      isRandom ? `s_${1_764_547_200_000 + position}_log${log}rand` : String(position);
    const epochOf = (log: number): string | undefined =>
      logs[log]?.declares === true ? `epoch ${log}` : undefined;
    return { ...rest, writers, from, to, isRandom, idOf, epochOf };
  });

function fail(why: string): never {
  throw new Error(why);
}

type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

function outcome({ writers, from, to, cursor, verdict, isRandom, idOf, epochOf }: World): Verdict {
  const others = writers
    .filter((writer) => writer !== to && writer.isHeard)
    .map(({ log, first, last, lag, writtenAgo }, index): OtherIssuer => {
      const told = Array.from({ length: Math.max(0, last - lag - first + 1) }, (_, n) => first + n);
      const ids = isRandom
        ? named(...told.map((position) => idOf(log, position)))
        : counted(first, last - lag);
      return { instance: `${index}`, epoch: epoch(epochOf(log)), writtenAgo, ids };
    });
  const finding: OwnFinding = {
    verdict,
    cursor: idOf(from.log, cursor),
    epoch: epoch(epochOf(to.log)),
    issuedHere: verdict.classification === 'resumed',
    begunAgo: 1_000,
  };
  return judgeOrigin(finding, others).verdict;
}

describe('whatever the index knows or does not', () => {
  it('X1, X2, X3: a log that the cursor is from is never accused', () => {
    fc.assert(
      fc.property(world, (given) => {
        fc.pre(given.from.log === given.to.log);
        expect(outcome(given).classification).not.toBe('reoriginated');
      }),
      { numRuns: 2_000 },
    );
  });

  it('X5: a verdict becomes no better', () => {
    fc.assert(
      fc.property(world, (given) => {
        const { classification } = outcome(given);
        if (given.verdict.classification !== 'resumed') expect(classification).not.toBe('resumed');
      }),
      { numRuns: 2_000 },
    );
  });

  it('X4: an index that is not late lets no reader of another counting log pass as resumed', () => {
    fc.assert(
      fc.property(world, ({ writers, ...given }) => {
        const { from, to, isRandom } = given;
        fc.pre(!isRandom && from.log !== to.log);
        const whole = { ...from, isHeard: true, lag: 0, first: 1, last: 40, writtenAgo: 1_000 };
        const told = writers.map((writer) => (writer === from ? whole : writer));
        const replayed = { ...given, writers: told, verdict: OBSERVED };
        expect(outcome(replayed).classification).toBe('unverifiable');
      }),
      { numRuns: 500 },
    );
  });
});
