import { expect, test } from 'vitest';
import type { ServerEvidence } from './classify-server.ts';
import { beginsAnew, classifyServer } from './classify-server.ts';

type First = NonNullable<ServerEvidence['first']>;

/** A request for what follows the third of five events, answered by the fourth. */
function evidence(first: Partial<First> = {}, rest: Partial<ServerEvidence> = {}): ServerEvidence {
  return {
    phase: 'open',
    refusal: undefined,
    declared: undefined,
    wantedIndex: 3,
    logLength: 5,
    unseen: 'nowhere',
    first: { id: 'd', relation: undefined, index: 3, payload: 'same', ...first },
    ...rest,
  };
}

const says = (...given: Parameters<typeof evidence>): string => {
  const verdict = classifyServer(evidence(...given));
  return verdict === undefined ? 'pending' : `${verdict.classification} ${verdict.reason}`;
};

test('V8: the event after the cursor, byte for byte as it was written', () => {
  expect(says()).toBe('resumed replay_observed');
});

test('V8: neither its place in the log nor its payload proves a replay alone', () => {
  expect(says({ payload: 'not_remembered' })).toBe('unverifiable no_window');
  // Opaque ids have no order that would show that this one was sent before.
  expect(says({ index: 1 })).toBe('unverifiable no_window');
  expect(says({}, { unseen: 'after_cursor' })).toBe('unverifiable no_window');
});

test('V4: a log began anew only where it fell back to what it never held', () => {
  const fellBack = { classification: 'reoriginated', reason: 'cursor_not_advanced' } as const;
  expect(beginsAnew(evidence({ index: undefined }), fellBack)).toBe(true);
  expect(beginsAnew(evidence({ index: 1 }), fellBack)).toBe(false);
  expect(beginsAnew(evidence({ index: undefined }), undefined)).toBe(false);
});
