import type { Profile } from '../profile.ts';

const PRESENT = { present: true } as const;

/**
 * Any WebSocket: nothing says where the application keeps a position. A handshake that carries the
 * cursor of SSE asks to go on from there all the same (M1).
 */
const websocket: Profile = {
  name: 'websocket',
  match: { transport: 'websocket' },
  cursor: { sent: ['req-header:last-event-id'] },
  messages: 'none',
};

/**
 * Connection state recovery: the same private id is the proof, and it comes after the replay. A
 * client without an offset is not recovered. The offset is the last string argument of an event, in
 * a session that has a private id; elsewhere a last string is the application's own.
 */
const socketIo: Profile = {
  name: 'socket.io',
  match: {
    signs: [
      { 'query:EIO': ['3', '4'] },
      { 'json:/type': 0, 'json:/data/sid': PRESENT },
      // The answer to the probe of a client that began by polling.
      { 'json:/type': 3 },
    ],
    signsNeeded: 2,
  },
  messages: 'engine.io',
  stream: ['json:/packet/nsp', 'sent-json:/packet/nsp'],
  cursor: {
    sent: ['sent-json:/packet/data/offset'],
    received: ['json:/packet/data/-1'],
    needsEpoch: true,
    codec: 'opaque',
  },
  epoch: {
    sent: ['sent-json:/packet/data/pid'],
    received: ['json:/packet/data/pid'],
    session: true,
  },
  resumed: [
    {
      'json:/packet/type': 0,
      'json:/packet/data/pid': { equals: 'sent-json:/packet/data/pid' },
      'sent-json:/packet/data/offset': PRESENT,
    },
  ],
  refused: [{ 'json:/packet/type': 4 }],
  control: [{ 'json:/packet/type': [0, 1, 3, 6] }, { 'json:/type': [0, 1, 2, 3, 5, 6] }],
};

/** Epoch and dense offset for each channel, with an explicit verdict that an epoch outranks. */
const centrifugo: Profile = {
  name: 'centrifugo',
  match: {
    signs: [
      { 'path~/connection/': PRESENT },
      { 'sent-json:/connect': PRESENT },
      { 'json:/connect/client': PRESENT, 'json:/connect/version': PRESENT },
      { 'json:/subscribe': PRESENT },
    ],
    signsNeeded: 2,
  },
  messages: 'json-lines',
  stream: ['json:/push/channel', 'sent-json:/subscribe/channel', 'json:/subscribe/channel'],
  members: { of: 'json:/connect/subs', as: 'subscribe', name: 'channel' },
  reply: { sent: 'sent-json:/id', received: 'json:/id' },
  events: ['json:/subscribe/publications'],
  cursor: {
    sent: ['sent-json:/subscribe/offset'],
    received: ['json:/push/pub/offset', 'json:/subscribe/offset', 'json:/offset'],
    codec: 'int',
    dense: true,
  },
  epoch: {
    sent: ['sent-json:/subscribe/epoch'],
    received: ['json:/subscribe/epoch', 'json:/push/subscribe/epoch'],
  },
  resumed: [{ 'json:/subscribe/recovered': true }],
  reset: [
    { 'json:/subscribe/was_recovering': true, 'json:/subscribe/recovered': { absent: true } },
    { 'json:/subscribe/was_recovering': true, 'json:/subscribe/recovered': false },
  ],
  refused: [
    { 'json:/error/code': 112 },
    { 'json:/push/unsubscribe/code': [2500, 2501, 2502] },
    { close: [3010, 3014] },
  ],
  control: [
    { 'json:/connect': PRESENT },
    { 'json:/subscribe': PRESENT },
    { 'json:/error': PRESENT },
    { 'json:/push/join': PRESENT },
    { 'json:/push/leave': PRESENT },
    { 'json:/push': { absent: true }, 'json:/offset': { absent: true } },
  ],
  payload: 'json:/push/pub/data',
};

/**
 * RESUMED closes the replay; READY opens a fresh session; op 9 and two close codes refuse. An op 9 with
 * `true` says that the session may be resumed all the same, and decides nothing.
 */
const discord: Profile = {
  name: 'discord',
  match: {
    transport: 'websocket',
    signs: [
      { 'query:encoding': ['json', 'etf'], 'query:v': PRESENT },
      { 'json:/op': 10, 'json:/d/heartbeat_interval': PRESENT },
    ],
    signsNeeded: 2,
  },
  messages: 'json',
  cursor: { sent: ['sent-json:/d/seq'], received: ['json:/s'], codec: 'int' },
  epoch: {
    sent: ['sent-json:/d/session_id'],
    received: ['json:/d/session_id'],
    when: { 'json:/t': 'READY' },
    session: true,
  },
  resumed: [{ 'json:/op': 0, 'json:/t': 'RESUMED' }],
  origin: [{ 'json:/op': 0, 'json:/t': 'READY' }],
  refused: [{ 'json:/op': 9, 'json:/d': false }, { close: [4007, 4009] }],
  control: [{ 'json:/op': [1, 7, 9, 10, 11] }],
};

/**
 * Stateful reconnect numbers messages without writing the numbers; Sequence sets the next one. The
 * client's own Sequence and Ack frames number what the client sends, or come too late to be a cursor.
 */
export const signalr: Profile = {
  name: 'signalr',
  match: {
    transport: 'websocket',
    signs: [
      { 'query:id': PRESENT },
      { 'sent-json:/protocol': 'json' },
      { 'json:/type': [1, 2, 3, 6, 8, 9] },
    ],
    signsNeeded: 2,
  },
  messages: 'json-rs',
  cursor: {
    codec: 'int',
    dense: true,
    means: 'inclusive',
    count: {
      of: [{ 'json:/type': [1, 2, 3, 4, 5] }],
      set: 'json:/sequenceId',
      when: { 'json:/type': 9 },
    },
  },
  epoch: { sent: ['query:id'], received: ['query:id'], session: true },
  resumed: [{ 'json:/type': 9 }],
  refused: [{ status: [404, 409] }],
  control: [{ 'json:/type': [6, 7, 8, 9] }, { 'json:/type': { absent: true } }],
};

/** A channel may be lost on a connection that was resumed: its own flag decides. */
export const ably: Profile = {
  name: 'ably',
  match: {
    transport: 'websocket',
    signs: [
      { 'query:format': 'json', 'query:v': PRESENT },
      { 'json:/action': 4, 'json:/connectionDetails': PRESENT },
    ],
    signsNeeded: 2,
  },
  messages: 'json',
  stream: ['json:/channel', 'sent-json:/channel'],
  cursor: {
    sent: ['sent-json:/channelSerial'],
    received: ['json:/channelSerial'],
    codec: 'opaque',
  },
  resumed: [{ 'json:/action': 11, 'json:/flags': { bit: 4 } }],
  reset: [
    {
      'json:/action': 11,
      'json:/flags': { bitClear: 4 },
      'sent-json:/channelSerial': PRESENT,
    },
    {
      'json:/action': 11,
      'json:/flags': { absent: true },
      'sent-json:/channelSerial': PRESENT,
    },
  ],
  refused: [{ 'json:/action': 9 }],
  control: [{ 'json:/action': [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17] }],
  payload: 'json:/messages',
};

/** The history request is answered after the replay, for each subscription. */
const anycable: Profile = {
  name: 'anycable',
  match: {
    transport: 'websocket',
    signs: [
      { 'req-header:sec-websocket-protocol~actioncable-v1-ext': PRESENT },
      { 'json:/type': 'welcome', 'json:/sid': PRESENT },
      { 'header:sec-websocket-protocol~actioncable-v1-ext': PRESENT },
    ],
    signsNeeded: 2,
  },
  messages: 'json',
  stream: ['json:/identifier', 'sent-json:/identifier'],
  cursor: {
    sent: ['sent-json:/history/streams/*/offset'],
    received: ['json:/offset'],
    codec: 'int',
    dense: true,
  },
  epoch: { sent: ['sent-json:/history/streams/*/epoch'], received: ['json:/epoch'] },
  resumed: [
    { 'json:/type': 'confirm_history' },
    { 'json:/type': 'welcome', 'json:/restored': true },
  ],
  reset: [{ 'json:/type': 'reject_history' }],
  control: [{ 'json:/type': PRESENT }],
  payload: 'json:/message',
};

function neverResuming(
  name: string,
  signs: NonNullable<Profile['match']>['signs'] & object,
  control: NonNullable<Profile['control']>,
): Profile {
  const match = { transport: 'websocket', signs, signsNeeded: 2 } as const;
  return { name, match, messages: 'json', control, neverResumes: true };
}

const graphqlWs: Profile = neverResuming(
  'graphql-ws',
  [
    { 'req-header:sec-websocket-protocol~graphql-(?:transport-)?ws': PRESENT },
    { 'header:sec-websocket-protocol~graphql-(?:transport-)?ws': PRESENT },
    { 'json:/type': 'connection_ack' },
  ],
  [{ 'json:/type': ['connection_ack', 'ping', 'pong', 'complete', 'ka', 'connection_error'] }],
);

const phoenix: Profile = neverResuming(
  'phoenix',
  [{ 'query:vsn': PRESENT }, { 'json:/3': ['phx_reply', 'phx_error', 'phx_close'] }],
  [{ 'json:/3': ['phx_reply', 'phx_error', 'phx_close', 'heartbeat'] }],
);

const pusher: Profile = neverResuming(
  'pusher',
  [{ 'query:protocol': PRESENT }, { 'json:/event': 'pusher:connection_established' }],
  [{ 'json:/event~^pusher': PRESENT }],
);

/** At least once by acknowledgement: what repeats is identified by the event's own id. */
const slack: Profile = {
  ...neverResuming(
    'slack',
    [
      { 'json:/type': 'hello', 'json:/connection_info/app_id': PRESENT },
      { 'query:ticket': PRESENT },
    ],
    [{ 'json:/type': ['hello', 'disconnect'] }],
  ),
  identity: ['json:/payload/event_id'],
};

export const WEBSOCKET_PROFILES: readonly Profile[] = [
  socketIo,
  centrifugo,
  discord,
  signalr,
  ably,
  anycable,
  graphqlWs,
  phoenix,
  pusher,
  slack,
  websocket,
];
