import { expect, test } from 'vitest';
import { faultOf, judgeTruth } from './ground-truth.ts';

const ASKED = { log: 'a', n: 10 };
const RESUMED = { classification: 'resumed', reason: 'cursor_echoed' } as const;
const BROKEN = { classification: 'reoriginated', reason: 'epoch_changed' } as const;

test('the truth about a reconnect is what was sent, not what was said', () => {
  const truths = [
    judgeTruth(ASKED, { log: 'a', n: 11 }, false),
    judgeTruth(ASKED, { log: 'a', n: 14 }, false),
    judgeTruth(ASKED, { log: 'b', n: 14 }, false),
    judgeTruth(ASKED, { log: 'b', n: 14 }, true),
    judgeTruth(ASKED, { log: 'b', n: 3 }, false),
    judgeTruth(ASKED, undefined, true),
  ];
  expect(truths.map(({ truth, provable }) => [truth, provable])).toEqual([
    ['continues', true],
    ['lost', false],
    ['other_log', false],
    ['other_log', true],
    ['other_log', true],
    ['nothing', false],
  ]);
});

test('one end that is wrong is enough, and one end that is right suffices', () => {
  const lost = { truth: 'other_log', provable: true } as const;
  expect(faultOf(lost, { client: BROKEN, server: RESUMED })).toBe('false resumed');
  expect(faultOf(lost, { client: BROKEN })).toBeUndefined();
  expect(faultOf(lost, {})).toBe('silent re-origination');
  expect(faultOf({ truth: 'continues', provable: true }, { server: BROKEN })).toBe(
    'honest server accused',
  );
});
