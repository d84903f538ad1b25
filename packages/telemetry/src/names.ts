// Generated from registry/event_stream.yaml by `pnpm run generate`. Do not edit.

export const ATTR_PROTOCOL_NAME = 'event_stream.protocol.name';
export const ATTR_ROLE = 'event_stream.role';
export const ATTR_CONNECTION_ORDINAL = 'event_stream.connection.ordinal';
export const ATTR_RESUME_REQUESTED = 'event_stream.resume.requested';
export const ATTR_CLASSIFICATION = 'event_stream.classification';
export const ATTR_REASON = 'event_stream.reason';
export const ATTR_REVISED = 'event_stream.revised';
export const ATTR_EPOCH = 'event_stream.epoch';
export const ATTR_EPOCH_PREVIOUS = 'event_stream.epoch.previous';
export const ATTR_CURSOR_REQUESTED = 'event_stream.cursor.requested';
export const ATTR_CURSOR_FIRST = 'event_stream.cursor.first';
export const ATTR_CURSOR_LAST = 'event_stream.cursor.last';
export const ATTR_MISSED = 'event_stream.missed';
export const ATTR_DUPLICATES = 'event_stream.duplicates';
export const ATTR_DUPLICATES_AT_LEAST = 'event_stream.duplicates.at_least';
export const ATTR_REPLAYED = 'event_stream.replayed';
export const ATTR_ORIGIN_INSTANCE_ID = 'event_stream.origin.instance.id';
export const ATTR_ORIGIN_EPOCH = 'event_stream.origin.epoch';
export const ATTR_ORIGIN_CURSOR_NEWEST = 'event_stream.origin.cursor.newest';
export const ATTR_ORIGIN_EVENTS_AFTER = 'event_stream.origin.events_after';
export const ATTR_PREVIOUS_TRACE_ID = 'event_stream.previous.trace_id';
export const ATTR_MIGRATION_FROM = 'event_stream.migration.from';
export const ATTR_MIGRATION_TO = 'event_stream.migration.to';
export const ATTR_MIGRATION_OUTCOME = 'event_stream.migration.outcome';
export const ATTR_DISCONNECT_REASON = 'event_stream.disconnect.reason';
export const ATTR_GAP_SOURCE = 'event_stream.gap.source';
export const ATTR_LINK_TYPE = 'event_stream.link.type';
export const ATTR_MCP_ERA = 'event_stream.mcp.era';
export const ATTR_MCP_STREAM = 'event_stream.mcp.stream';
export const ATTR_LOAD_LEVEL = 'event_stream.load.level';
export const ATTR_LOAD_EVENT_LOOP_UTILIZATION = 'event_stream.load.event_loop_utilization';
export const ATTR_LOAD_ACTIVE_STREAMS = 'event_stream.load.active_streams';
export const ATTR_ERROR_TYPE = 'error.type';
export const ATTR_MCP_PROTOCOL_VERSION = 'mcp.protocol.version';
export const ATTR_MCP_SESSION_ID = 'mcp.session.id';
export const ATTR_MCP_METHOD_NAME = 'mcp.method.name';
export const ATTR_JSONRPC_REQUEST_ID = 'jsonrpc.request.id';

export const SPAN_STREAM_CONNECT = 'stream connect';
export const SPAN_STREAM_RECONNECT = 'stream reconnect';
export const SPAN_SSE_CONNECT = 'sse connect';
export const SPAN_WEBSOCKET_CONNECT = 'websocket connect';
export const SPAN_SSE_ACCEPT = 'sse accept';
export const SPAN_WEBSOCKET_ACCEPT = 'websocket accept';
export const SPAN_STREAM_MIGRATE = 'stream migrate';

export const EVENT_RECONNECT = 'event_stream.reconnect';
export const EVENT_GAP = 'event_stream.gap';
export const EVENT_DUPLICATES = 'event_stream.duplicates';
export const EVENT_DISCONNECT = 'event_stream.disconnect';
export const EVENT_MIGRATE = 'event_stream.migrate';

export const ROLE_VALUES = ['client', 'server'] as const;
export type Role = (typeof ROLE_VALUES)[number];

export const CLASSIFICATION_VALUES = [
  'resumed',
  'reoriginated',
  'unverifiable',
  'refused',
] as const;
export type Classification = (typeof CLASSIFICATION_VALUES)[number];

export const REASON_VALUES = [
  'stream_gone',
  'cursor_conflict',
  'nothing_to_resume',
  'http_4xx',
  'http_5xx',
  'http_other',
  'refusal_frame',
  'epoch_changed',
  'reset_signalled',
  'origin_frame',
  'echo_mismatch',
  'window_exceeded',
  'tail_below_cursor',
  'cursor_not_advanced',
  'id_reused',
  'protocol_never_resumes',
  'cursor_unknown',
  'server_declared',
  'cursor_echoed',
  'epoch_and_window',
  'next_in_sequence',
  'overlap',
  'store_replayed',
  'replay_observed',
  'no_profile',
  'cursor_not_sent',
  'no_events',
  'no_ids',
  'not_comparable',
  'no_epoch',
  'no_window',
  'cursor_unknown_here',
  'cursor_issued_elsewhere',
] as const;
export type Reason = (typeof REASON_VALUES)[number];

export const MIGRATION_FROM_VALUES = ['sse', 'websocket'] as const;
export type MigrationFrom = (typeof MIGRATION_FROM_VALUES)[number];

export const MIGRATION_TO_VALUES = ['sse', 'websocket'] as const;
export type MigrationTo = (typeof MIGRATION_TO_VALUES)[number];

export const MIGRATION_OUTCOME_VALUES = ['replayed', 'refused', 'lossy', 'unverifiable'] as const;
export type MigrationOutcome = (typeof MIGRATION_OUTCOME_VALUES)[number];

export const DISCONNECT_REASON_VALUES = [
  'eof',
  'polling',
  'reset',
  'aborted',
  'idle_timeout',
  'open',
  'close_normal',
  'close_going_away',
  'close_protocol_error',
  'close_no_status',
  'close_abnormal',
  'close_policy',
  'close_too_big',
  'close_server_error',
  'close_restart',
  'close_registered',
  'close_application',
  'close_other',
] as const;
export type DisconnectReason = (typeof DISCONNECT_REASON_VALUES)[number];

export const GAP_SOURCE_VALUES = ['reconnect', 'in_stream', 'migration'] as const;
export type GapSource = (typeof GAP_SOURCE_VALUES)[number];

export const LINK_TYPE_VALUES = ['previous_connection', 'next_connection', 'creator'] as const;
export type LinkType = (typeof LINK_TYPE_VALUES)[number];

export const MCP_ERA_VALUES = ['http_sse', 'sessions', 'stateless'] as const;
export type McpEra = (typeof MCP_ERA_VALUES)[number];

export const MCP_STREAM_VALUES = ['standalone', 'request', 'continued'] as const;
export type McpStream = (typeof MCP_STREAM_VALUES)[number];

export const LOAD_LEVEL_VALUES = ['low', 'elevated', 'high'] as const;
export type LoadLevel = (typeof LOAD_LEVEL_VALUES)[number];

export const INSTRUMENTATION_ERRORS_REASON_VALUES = [
  'server_tap',
  'client_tap',
  'decoder',
  'observer',
  'telemetry',
  'config',
  'origin_index',
] as const;
export type InstrumentationErrorsReason = (typeof INSTRUMENTATION_ERRORS_REASON_VALUES)[number];
