import type { Profile } from '../profile.ts';
import { MCP_PROFILES } from './mcp.ts';

const LAST_EVENT_ID = 'req-header:last-event-id';
const PRESENT = { present: true } as const;

/** Any event stream: a number is ordered, every other id can only be told apart (R18). */
const sse: Profile = {
  name: 'sse',
  match: { transport: 'sse' },
  cursor: { sent: [LAST_EVENT_ID], received: ['sse:id'], codec: ['int', 'opaque'] },
};

/** Our own header; a valid one is sign enough. It also speaks on top of every other built-in. */
const streamContinuity: Profile = {
  name: 'stream-continuity',
  match: { signs: [{ 'header:stream-continuity': PRESENT }], signsNeeded: 1 },
  cursor: { sent: [LAST_EVENT_ID], received: ['sse:id'], codec: ['int', 'opaque'] },
  epoch: { received: ['continuity:gen'] },
  echo: ['continuity:from'],
  window: { size: ['continuity:window'], oldest: ['continuity:oldest'] },
  tail: ['continuity:newest'],
  reset: [{ 'continuity:status': 'reset' }],
};

/** The hub names the event before the first one it sends, or `earliest`. */
const mercure: Profile = {
  name: 'mercure',
  match: {
    transport: 'sse',
    signs: [
      { 'path~/\\.well-known/mercure': PRESENT },
      { 'query:topic': PRESENT },
      { 'query:match': PRESENT },
      { 'header:link~rel="?mercure': PRESENT },
      { 'header:mercure-last-event-id': PRESENT },
      // Elsewhere it proves no hub: there are servers and proxies that send request headers back.
      { 'path~/\\.well-known/mercure': PRESENT, 'header:last-event-id': PRESENT },
    ],
    signsNeeded: 2,
  },
  cursor: {
    sent: [LAST_EVENT_ID, 'query:last_event_id', 'query:lastEventID', 'query:Last-Event-ID'],
    received: ['sse:id'],
    codec: 'opaque',
    start: ['earliest'],
  },
  echo: ['header:mercure-last-event-id', 'header:last-event-id'],
};

/** AnyCable over SSE: the id names offset, stream and epoch, and nobody confirms a history. */
const anycableSse: Profile = {
  name: 'anycable',
  match: {
    transport: 'sse',
    signs: [
      { 'query:channel': PRESENT },
      { 'query:identifier': PRESENT },
      { 'query:signed_stream_name': PRESENT },
      { 'sse:id~^\\d+/.+/[^/]+$': PRESENT },
    ],
    signsNeeded: 2,
  },
  cursor: {
    sent: [LAST_EVENT_ID],
    received: ['sse:id'],
    codec: { pattern: '^(?<pos>\\d+)/(?<stream>.+)/(?<epoch>[^/]+)$', order: 'int' },
    dense: true,
  },
  epoch: { sent: ['codec:epoch'], received: ['codec:epoch'] },
  control: [{ 'sse:event': ['welcome', 'confirm_subscription', 'ping', 'disconnect'] }],
};

/** The shape handle is the epoch; positions stand in the rows and in `up-to-date` messages. */
const electric: Profile = {
  name: 'electric',
  match: {
    transport: 'sse',
    signs: [
      { 'path~/v1/shape': PRESENT },
      { 'query:offset': PRESENT, 'query:live': PRESENT },
      { 'header:electric-handle': PRESENT },
      { 'json:/headers/control': ['up-to-date', 'must-refetch'] },
    ],
    signsNeeded: 2,
  },
  cursor: {
    sent: ['query:offset'],
    received: ['json:/headers/lsn+json:/headers/op_position', 'json:/headers/global_last_seen_lsn'],
    codec: 'pair',
    separator: '_',
    means: 'next',
    start: ['-1', 'now'],
  },
  epoch: { sent: ['query:handle'], received: ['header:electric-handle'] },
  echo: ['header:etag~^(?:W/)?"?[^":]+:([^":]+):'],
  reset: [{ 'json:/headers/control': 'must-refetch' }],
  control: [{ 'json:/headers/control': PRESENT }],
};

/**
 * Offsets are opaque text in byte order and told by control events: the end of the log. An ETag
 * names the stream, the offset asked for and the end.
 */
const durableStreams: Profile = {
  name: 'durable-streams',
  match: {
    transport: 'sse',
    signs: [
      { 'query:offset': PRESENT, 'query:live': ['sse', 'long-poll', 'true'] },
      { 'header:stream-next-offset': PRESENT },
      { 'sse:event': 'control', 'json:/streamNextOffset': PRESENT },
    ],
    signsNeeded: 2,
  },
  cursor: {
    sent: ['query:offset'],
    received: ['json:/streamNextOffset'],
    codec: 'bytes',
    means: 'next',
    start: ['-1', 'now'],
  },
  epoch: { received: ['header:etag~^(?:W/)?"?([^":]+):[^":]+:'] },
  echo: ['header:etag~^(?:W/)?"?[^":]+:([^":]+):'],
  tail: ['header:stream-next-offset'],
  control: [{ 'sse:event': 'control' }],
};

/** Versions are ordered and filtered, never dense; a 410 may stand in the first frame. */
const kubernetesWatch: Profile = {
  name: 'kubernetes-watch',
  match: {
    signs: [
      { 'query:watch': ['1', 'true'] },
      {
        'json:/type': ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'],
        'json:/object': PRESENT,
      },
    ],
    signsNeeded: 2,
  },
  messages: 'json-lines',
  cursor: {
    sent: ['query:resourceVersion'],
    received: ['json:/object/metadata/resourceVersion'],
    codec: 'int',
    start: ['0'],
  },
  refused: [{ 'json:/type': 'ERROR' }],
  control: [{ 'json:/type': 'BOOKMARK' }],
};

/** Background responses; the SDK may read from 0 again and filter, so the sent cursor counts. */
const openaiResponses: Profile = {
  name: 'openai-responses',
  match: {
    transport: 'sse',
    signs: [
      { 'path~/responses(?:[/?]|$)': PRESENT },
      { 'json:/type~^response\\.': PRESENT, 'json:/sequence_number': PRESENT },
    ],
    signsNeeded: 2,
  },
  cursor: { sent: ['query:starting_after'], received: ['json:/sequence_number'], codec: 'int' },
  epoch: { received: ['json:/response/id'] },
  origin: [{ 'json:/type': 'response.created' }],
};

/** A cursor that the server does not know gets the live tail; a lost run an error event. */
const langgraph: Profile = {
  name: 'langgraph',
  match: {
    transport: 'sse',
    signs: [
      // The first such segment alone is tried: a path is whatever a stranger sends, and one that
      // repeats the segment would otherwise cost the square of its length.
      { 'path~^(?=([^?]*?/(?:threads|runs)/))\\1[^?]*stream': PRESENT },
      { 'header:content-location~/runs/': PRESENT },
      { 'sse:event': 'metadata', 'json:/run_id': PRESENT },
    ],
    signsNeeded: 2,
  },
  cursor: {
    sent: [LAST_EVENT_ID],
    received: ['sse:id'],
    codec: ['int', 'pair', 'opaque'],
    separator: '-',
    start: ['-1'],
  },
  epoch: { received: ['header:content-location~(/runs/[^/?]+)'] },
  refused: [{ 'sse:event': 'error', 'json:/message~[Nn]ot found': PRESENT }],
};

/** No cursor at all: a reconnect by GET replays the message of the POST from its first chunk. */
const aiSdk: Profile = {
  name: 'ai-sdk',
  match: {
    transport: 'sse',
    signs: [
      { 'path~/chat/[^/?]+/stream(?:\\?|$)': PRESENT },
      { 'header:x-vercel-ai-ui-message-stream': PRESENT },
      { 'json:/type': ['start', 'start-step', 'text-start', 'text-delta', 'reasoning-start'] },
    ],
    signsNeeded: 2,
  },
  key: '^(.*?)(?:/[^/]+/stream)?$',
  control: [{ 'sse:data': '[DONE]' }],
};

/** A resubscribed task begins with a full snapshot: re-synchronised, never resumed. */
const a2a: Profile = {
  name: 'a2a',
  match: {
    transport: 'sse',
    signs: [
      {
        'sent-json:/method': [
          'SendStreamingMessage',
          'SubscribeToTask',
          'message/stream',
          'tasks/resubscribe',
        ],
      },
      { 'json:/result/task': PRESENT },
      { 'json:/result/statusUpdate': PRESENT },
      { 'json:/result/artifactUpdate': PRESENT },
      { 'json:/result/kind': ['task', 'status-update', 'artifact-update'] },
      { 'json:/error': PRESENT },
    ],
    signsNeeded: 2,
  },
  cursor: { sent: ['sent-json:/params/id'], codec: 'opaque' },
  origin: [{ 'json:/result/task': PRESENT }, { 'json:/result/kind': 'task' }],
  refused: [{ 'json:/error': PRESENT }],
};

/** Subscriptions have neither ids nor a cursor. */
const graphqlSse: Profile = {
  name: 'graphql-sse',
  match: {
    transport: 'sse',
    signs: [
      { 'path~graphql': PRESENT },
      { 'query:query~^\\s*subscription': PRESENT },
      { 'sent-json:/query~^\\s*subscription': PRESENT },
      { 'sse:event': ['next', 'complete'] },
    ],
    signsNeeded: 2,
  },
  key: '^(.+)$',
  control: [{ 'sse:event': 'complete' }],
  neverResumes: true,
};

export const HTTP_PROFILES: readonly Profile[] = [
  mercure,
  ...MCP_PROFILES,
  anycableSse,
  electric,
  durableStreams,
  kubernetesWatch,
  openaiResponses,
  langgraph,
  aiSdk,
  a2a,
  graphqlSse,
  streamContinuity,
  sse,
];
