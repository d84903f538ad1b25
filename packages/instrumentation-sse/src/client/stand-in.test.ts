import { RecordingRecorder, RecordingTimeline } from '@sameriver/testkit';
import { beforeEach, expect, test } from 'vitest';
import { Attempts } from './attempts.ts';
import type { FollowedStream } from './followed-stream.ts';
import { attach, detach, standIn, streamOn } from './stand-in.ts';

class Source {
  taken: string[] = [];
  take(chunk: string): number {
    return this.taken.push(chunk);
  }
}

const seen: Array<readonly [FollowedStream | undefined, string]> = [];
const STAND_INS = [
  standIn('take', (behind) => {
    return function somehow(chunk: string, _more?: string) {
      seen.push([streamOn(this), chunk]);
      return behind(this).call(this, chunk);
    };
  }),
];

let stream: FollowedStream;

beforeEach(() => {
  seen.length = 0;
  const host = {
    timeline: new RecordingTimeline('client'),
    recorder: new RecordingRecorder(),
    now: () => 0,
    later: () => () => undefined,
  };
  const request = { transport: 'sse', method: 'GET', origin: '', target: '/' } as const;
  const opened = new Attempts(host).open({}, { ...request, header: () => undefined }, {} as never);
  if (opened === undefined) throw new Error('The stream of the test was not opened.');
  stream = opened;
});

test('an object that carries a stream cannot be told from one that does not', () => {
  const source = new Source();
  attach(source, stream, STAND_INS);
  expect(source.take('a')).toBe(1);
  expect(seen).toEqual([[stream, 'a']]);
  expect(source.taken).toEqual(['a']);
  expect(Object.keys(source)).toEqual(['taken']);
  expect([source.take.name, source.take.length]).toEqual(['take', 1]);
  expect(Reflect.ownKeys(new Source())).toEqual(['taken']);
});

test('freed, it is as it was', () => {
  const source = new Source();
  attach(source, stream, STAND_INS);
  detach(source, STAND_INS);
  expect(Reflect.ownKeys(source)).toEqual(['taken']);
  expect(source.take).toBe(Source.prototype.take);
  source.take('a');
  expect(seen).toEqual([]);
});

test('a method of its own is called, and comes back when the stream is over', () => {
  const own = { take: (chunk: string): string => `own ${chunk}` };
  const { take } = own;
  attach(own, stream, STAND_INS);
  stream.carriedBy(own, (carrier) => detach(carrier, STAND_INS));
  expect(own.take('a')).toBe('own a');
  expect(seen).toEqual([[stream, 'a']]);
  stream.stop();
  expect(own.take).toBe(take);
  expect(streamOn(own)).toBeUndefined();
});

test('what stands in front of ours by the end goes on working', () => {
  const source = new Source();
  attach(source, stream, STAND_INS);
  const behind = source.take;
  source.take = (chunk) => behind.call(source, `${chunk}!`);
  stream.carriedBy(source, (carrier) => detach(carrier, STAND_INS));
  stream.stop();
  expect(source.take('a')).toBe(1);
  expect(source.taken).toEqual(['a!']);
  expect(seen).toEqual([[undefined, 'a!']]);
});

test('a method that is missing is not invented', () => {
  const bare = {};
  attach(bare, stream, STAND_INS);
  expect('take' in bare).toBe(false);
});
