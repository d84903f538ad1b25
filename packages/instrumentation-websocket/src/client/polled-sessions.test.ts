import { expect, test } from 'vitest';
import type { FollowedSocket } from '../followed-socket.ts';
import { PolledSessions } from './polled-sessions.ts';

/** What a WebSocket would be told that carries on from here. */
function toldAfter(sessions: PolledSessions, sid: string): string[] | undefined {
  const session = sessions.find(sid);
  if (session === undefined) return undefined;
  const told: string[] = [];
  const note = (way: string) => (data: unknown) => void told.push(`${way}:${String(data)}`);
  const socket = { sent: note('sent'), received: note('received') };
  sessions.changeOver(session, socket as unknown as FollowedSocket);
  return told;
}

const open = (sid: string): string => `0{"sid":"${sid}","upgrades":["websocket"]}`;

test('what was polled is told packet by packet, in its order and once', () => {
  const sessions = new PolledSessions();
  sessions.begin(open('a'));
  sessions.begin(open('b'));
  const session = sessions.find('a')!;
  sessions.take(session, 'sent', '40{"pid":"p","offset":"o"}');
  sessions.take(session, 'received', '42["m","o2"]\u001e40{"sid":"s","pid":"p"}\u001ebAQI=');
  expect(toldAfter(sessions, 'a')).toEqual([
    `received:${open('a')}`,
    'sent:40{"pid":"p","offset":"o"}',
    'received:42["m","o2"]',
    'received:40{"sid":"s","pid":"p"}',
    'received:\u0001\u0002',
  ]);
  expect(toldAfter(sessions, 'a')).toBeUndefined();
  expect(toldAfter(sessions, 'b')).toEqual([`received:${open('b')}`]);
});

test.each(['no packet', '1', '0{"sid":7}', '0{"sid":"not one of theirs"}', ''])(
  '%j begins nothing',
  (body) => {
    const sessions = new PolledSessions();
    sessions.begin(body);
    expect(sessions.find('7')).toBeUndefined();
    expect(sessions.find('not one of theirs')).toBeUndefined();
  },
);

test('of more than a thousand the oldest is forgotten', () => {
  const sessions = new PolledSessions();
  for (let n = 0; n <= 1000; n += 1) sessions.begin(open(`n${n}`));
  expect(sessions.find('n0')).toBeUndefined();
  expect(toldAfter(sessions, 'n1')).toHaveLength(1);
});

test('of more than a mebibyte the oldest are forgotten whole, and never a part of one', () => {
  const sessions = new PolledSessions();
  const half = `42["m","${'x'.repeat(1 << 19)}"]`;
  for (const sid of ['a', 'b', 'c']) {
    sessions.begin(open(sid));
    sessions.take(sessions.find(sid)!, 'received', half);
  }
  expect(sessions.find('a')).toBeUndefined();
  expect(sessions.find('b')).toBeUndefined();
  const last = sessions.find('c')!;
  sessions.take(last, 'received', half);
  expect(sessions.find('c')).toBeUndefined();
  sessions.take(last, 'received', '42["m","late"]');
  expect(last.packets).toEqual([]);
  sessions.begin(open('d'));
  expect(toldAfter(sessions, 'd')).toHaveLength(1);
});
