import type { Profile } from '../profile.ts';
import { ably, signalr } from './websocket.ts';

const PRESENT = { present: true } as const;

/**
 * SignalR in its binary encoding: arrays that begin with the type. Sequence is `[9, number]`. The
 * handshake that names the encoding is JSON all the same, and no other sign would be one.
 */
const signalrBinary: Profile = {
  ...signalr,
  match: {
    transport: 'websocket',
    signs: [{ 'sent-json:/protocol': 'messagepack' }, { 'json:/0': [1, 2, 3, 6, 8, 9] }],
    signsNeeded: 2,
  },
  messages: 'msgpack-lp',
  cursor: {
    codec: 'int',
    dense: true,
    means: 'inclusive',
    count: { of: [{ 'json:/0': [1, 2, 3, 4, 5] }], set: 'json:/1', when: { 'json:/0': 9 } },
  },
  resumed: [{ 'json:/0': 9 }],
  control: [{ 'json:/0': [6, 7, 8, 9] }, { 'json:/0': { absent: true } }],
};

/** Ably's messages, written as MessagePack; its clients choose the encoding in the query. */
const ablyBinary: Profile = {
  ...ably,
  match: {
    transport: 'websocket',
    signs: [
      { 'query:format': 'msgpack', 'query:v': PRESENT },
      { 'json:/action': 4, 'json:/connectionDetails': PRESENT },
    ],
    signsNeeded: 2,
  },
  messages: 'msgpack',
};

/** Protocols that have a binary encoding beside JSON, under the same names. */
export const BINARY_PROFILES: readonly Profile[] = [signalrBinary, ablyBinary];
