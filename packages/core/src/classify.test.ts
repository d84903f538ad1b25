import { describe, expect, it } from 'vitest';
import { classify, missedBy } from './classify.ts';
import { codecNamed } from './cursor/codecs.ts';
import type { CursorMeaning, Relation } from './cursor/relate.ts';
import { relate } from './cursor/relate.ts';
import type { Evidence, PayloadUnderId } from './evidence.ts';

const to = (cursor: string, id: string, dense = false, means: CursorMeaning = 'last'): Relation =>
  relate([{ codec: codecNamed('int'), dense, means }], cursor, id);

const first = (relation: Relation, payload: PayloadUnderId = 'new'): Partial<Evidence> => ({
  delivered: true,
  first: { id: relation.other.text, isLate: false, payload, relation },
});

/** A reconnect that asked for what follows 10 and has heard nothing yet. */
function evidence(...parts: Partial<Evidence>[]): Evidence {
  const base: Evidence = {
    transport: 'sse',
    phase: 'open',
    hasProfile: true,
    migrates: false,
    refusal: undefined,
    reset: false,
    deliveredSinceReset: false,
    origin: false,
    declaredResumed: false,
    mayDeclare: false,
    neverResumes: false,
    sentCursor: '10',
    expectedCursor: '10',
    echo: undefined,
    epoch: undefined,
    heldEpoch: undefined,
    window: 'none',
    oldest: undefined,
    tail: undefined,
    delivered: false,
    first: undefined,
    positionMayFollow: false,
  };
  return Object.assign(base, ...parts);
}

const same = { epoch: 'e', heldEpoch: 'e' };
const says = (...parts: Partial<Evidence>[]): string => {
  const verdict = classify(evidence(...parts));
  return verdict === undefined ? 'pending' : `${verdict.classification} ${verdict.reason}`;
};

describe('classify', () => {
  it('R1: a refusal decides before everything else', () => {
    expect(says({ refusal: 'stream_gone', epoch: 'f', heldEpoch: 'e' })).toBe(
      'refused stream_gone',
    );
    expect(says({ reset: true, phase: 'ended' })).toBe('refused refusal_frame');
    const wentOn = { reset: true, deliveredSinceReset: true, phase: 'ended' } as const;
    expect(says(wentOn)).toBe('reoriginated reset_signalled');
  });

  it('R2: another epoch is another log, whatever is declared', () => {
    const changed = { epoch: 'f', heldEpoch: 'e' };
    expect(says(changed, { declaredResumed: true, echo: '10' })).toBe('reoriginated epoch_changed');
    expect(says({ epoch: 'f' })).toBe('pending');
  });

  it('R3: a reset counts once something follows it, or nothing does for long', () => {
    expect(says({ reset: true })).toBe('pending');
    expect(says({ reset: true, delivered: true })).toBe('pending');
    const followed = { reset: true, delivered: true, deliveredSinceReset: true };
    expect(says(followed)).toBe('reoriginated reset_signalled');
    expect(says({ reset: true, phase: 'timed_out' })).toBe('reoriginated reset_signalled');
    expect(says({ origin: true })).toBe('reoriginated origin_frame');
    expect(says({ origin: true, sentCursor: undefined })).toBe('pending');
  });

  it('R4: an echo of another cursor is a mismatch', () => {
    expect(says({ echo: '9' })).toBe('reoriginated echo_mismatch');
    expect(says({ echo: '9', sentCursor: undefined })).toBe('pending');
  });

  it('R5: a window that ends before the cursor, or a hole in dense numbers of one epoch', () => {
    expect(says({ window: 'does_not_cover' })).toBe('reoriginated window_exceeded');
    expect(says(same, first(to('10', '14', true)))).toBe('reoriginated window_exceeded');
    expect(says(first(to('10', '14', true)))).toBe('unverifiable no_epoch');
    expect(says(same, first(to('10', '14')))).toBe('unverifiable no_window');
  });

  it('R6: a log that ends before the cursor', () => {
    expect(says({ tail: to('10', '9') })).toBe('reoriginated tail_below_cursor');
    expect(says({ tail: to('10', '10') })).toBe('pending');
    expect(says({ tail: to('10', '9', false, 'next') })).toBe('pending');
    expect(says({ tail: to('10', '8', false, 'next') })).toBe('reoriginated tail_below_cursor');
  });

  it('R7: a first id that is not above the cursor', () => {
    expect(says(first(to('10', '10')))).toBe('reoriginated cursor_not_advanced');
    expect(says(first(to('10', '9', false, 'next')))).toBe('reoriginated cursor_not_advanced');
    expect(says(first(to('10', '10', false, 'next')))).toBe('unverifiable no_epoch');
    const other = first(to('10', '10', false, 'inclusive'), 'other');
    expect(says(other)).toBe('reoriginated cursor_not_advanced');
    expect(says(first(to('abc', 'abc')))).toBe('reoriginated cursor_not_advanced');
  });

  it('R8: an id that named another payload before', () => {
    expect(says(first(to('10', '11'), 'other'))).toBe('reoriginated id_reused');
  });

  it('R9: a protocol that never resumes', () => {
    expect(says({ neverResumes: true })).toBe('reoriginated protocol_never_resumes');
  });

  it("R10: the server's own verdict", () => {
    expect(says({ declaredResumed: true, mayDeclare: true })).toBe('resumed server_declared');
  });

  it('R11: an echo of the cursor, once the first event has not refuted it', () => {
    expect(says({ echo: '10' })).toBe('pending');
    expect(says({ echo: '10' }, first(to('10', '3')))).toBe('reoriginated cursor_not_advanced');
    expect(says({ echo: '10' }, first(to('10', '30')))).toBe('resumed cursor_echoed');
    expect(says({ echo: '10', phase: 'timed_out' })).toBe('resumed cursor_echoed');
  });

  it('R12: one epoch and a window that reaches back to a cursor that was sent', () => {
    const kept = { window: 'covers' } as const;
    expect(says(same, kept, first(to('10', '30')))).toBe('resumed epoch_and_window');
    expect(says(kept, first(to('10', '30')))).toBe('unverifiable no_epoch');
    const unsent = { sentCursor: undefined };
    expect(says(same, kept, unsent, first(to('10', '30')))).toBe('unverifiable cursor_not_sent');
  });

  it('R13: the successor in dense numbers of one epoch', () => {
    expect(says(same, first(to('10', '11', true)))).toBe('resumed next_in_sequence');
    expect(says(same, first(to('10', '10', true, 'next')))).toBe('resumed next_in_sequence');
    expect(says(first(to('10', '11', true)))).toBe('unverifiable no_epoch');
  });

  it('R14: the acknowledged event once more, byte for byte', () => {
    expect(says(first(to('10', '10', false, 'inclusive'), 'same'))).toBe('resumed overlap');
    expect(says(first(to('10', '10', false, 'inclusive'), 'new'))).toBe('unverifiable no_epoch');
  });

  it.each([
    ['no_profile', { hasProfile: false, phase: 'ended' }],
    ['cursor_not_sent', { sentCursor: undefined, phase: 'ended' }],
    ['no_events', { phase: 'ended' }],
    [
      'no_ids',
      {
        delivered: true,
        first: { id: undefined, isLate: false, payload: 'new', relation: undefined },
      },
    ],
    [
      'no_ids',
      {
        sentCursor: undefined,
        expectedCursor: undefined,
        ...first(to('1', '2')),
        first: { id: '2', isLate: false, payload: 'new', relation: undefined },
      },
    ],
    ['not_comparable', first(to('a', 'b'))],
    ['no_epoch', first(to('10', '11'))],
    ['no_window', { ...same, ...first(to('10', '11')) }],
  ] as const)(
    'R15: what is left is unverifiable, and says what was missing: %s',
    (reason, part) => {
      expect(says(part)).toBe(`unverifiable ${reason}`);
    },
  );

  it('R16: the verdict is pending while the deciding byte may still come', () => {
    expect(says()).toBe('pending');
    expect(says({ mayDeclare: true, echo: '10' }, first(to('10', '11')))).toBe('pending');
    expect(says({ positionMayFollow: true, delivered: true })).toBe('pending');
  });

  it('R17: nothing of a healthy look is evidence: an equal session, a greater id, silence', () => {
    expect(says(same, first(to('10', '11')))).toMatch(/^unverifiable/);
    expect(says(same, { phase: 'timed_out' })).toMatch(/^unverifiable/);
  });

  it('G1: missed is a number only where dense positions of one epoch prove it', () => {
    const missed = (...parts: Partial<Evidence>[]): unknown => {
      const given = evidence(...parts);
      const verdict = classify(given);
      return verdict && missedBy(verdict, given);
    };
    expect(missed(same, first(to('10', '14', true)))).toBe(3);
    expect(missed(same, first(to('10', '14', true, 'next')))).toBe(4);
    expect(missed(first(to('10', '14', true)))).toBe('unknown');
    expect(missed({ refusal: 'http_5xx' })).toBe(0);
    expect(missed({ echo: '10' }, first(to('10', '30')))).toBe(0);
    expect(missed(first(to('10', '3')))).toBe('unknown');
    const denied = { reset: true, phase: 'timed_out', tail: to('10', '17', true) } as const;
    expect(missed(same, denied)).toBe(7);
    const evicted = { window: 'does_not_cover', oldest: to('10', '21', true) } as const;
    expect(missed(same, evicted)).toBe(10);
  });
});
