import type { Profile } from '../profile.ts';

const LAST_EVENT_ID = 'req-header:last-event-id';
const PRESENT = { present: true } as const;
/** MCP revisions that know sessions and event ids; 2026-07-28 removed both. */
const MCP_WITH_SESSIONS = '^(?:2024|2025|2026-0[1-6])-';
const MCP_WITHOUT_SESSIONS = '^(?:2026-(?:0[7-9]|1)|202[7-9]|20[3-9])';

/**
 * MCP streamable HTTP, 2025-03-26 to 2025-11-25. The session id is an epoch token that can only
 * refute: an adopted session carries it on (R17). Event ids are whatever the SDK makes.
 */
const mcp2025: Profile = {
  name: 'mcp-2025',
  match: {
    transport: 'sse',
    signs: [
      { [`req-header:mcp-protocol-version~${MCP_WITH_SESSIONS}`]: PRESENT },
      { 'req-header:mcp-session-id': PRESENT, 'req-header:mcp-protocol-version': { absent: true } },
      { 'header:mcp-session-id': PRESENT },
      { 'json:/jsonrpc': '2.0' },
    ],
    signsNeeded: 2,
  },
  cursor: {
    sent: [LAST_EVENT_ID],
    received: ['sse:id'],
    codec: [
      {
        codec: {
          pattern: '^(?<epoch>[A-Za-z0-9+/]+=*):(?<stream>[A-Za-z0-9+/]+=*):(?<pos>\\d{1,15})$',
          order: 'int',
        },
        dense: true,
      },
      'stream-ts-rand',
      {
        codec: { pattern: '^(?<pos>\\d{1,15})/(?<stream>\\d+)$', order: 'int' },
        means: 'inclusive',
      },
      { codec: { pattern: '^(?<stream>[^_]*)_(?<pos>\\d{1,9})$', order: 'int' }, dense: true },
      'int',
      'ulid',
      'uuid',
      'opaque',
    ],
  },
  epoch: {
    sent: ['req-header:mcp-session-id'],
    received: ['header:mcp-session-id'],
    session: true,
  },
};

/** From 2026-07-28 a new listen is a new subscription by design; an ignored cursor conforms. */
const mcp2026: Profile = {
  name: 'mcp-2026',
  match: {
    transport: 'sse',
    signs: [
      {
        [`req-header:mcp-protocol-version~${MCP_WITHOUT_SESSIONS}`]: PRESENT,
        'sent-json:/method': 'subscriptions/listen',
      },
      // The same in a header that this revision asks for: not every tap reads what is sent.
      {
        [`req-header:mcp-protocol-version~${MCP_WITHOUT_SESSIONS}`]: PRESENT,
        'req-header:mcp-method': 'subscriptions/listen',
      },
      {
        [`req-header:mcp-protocol-version~${MCP_WITHOUT_SESSIONS}`]: PRESENT,
        [LAST_EVENT_ID]: PRESENT,
      },
      { 'json:/jsonrpc': '2.0' },
    ],
    signsNeeded: 2,
  },
  key: '^(.+)$',
  cursor: { sent: [LAST_EVENT_ID], received: ['sse:id'], codec: ['int', 'opaque'] },
  control: [{ 'json:/method': 'notifications/subscriptions/acknowledged' }],
  neverResumes: true,
};

export const MCP_PROFILES: readonly Profile[] = [mcp2026, mcp2025];
