// Generated from registry/event_stream.yaml by `pnpm run generate`. Do not edit.
import {
  ATTR_CLASSIFICATION,
  ATTR_DISCONNECT_REASON,
  ATTR_GAP_SOURCE,
  ATTR_LOAD_LEVEL,
  ATTR_MIGRATION_FROM,
  ATTR_MIGRATION_OUTCOME,
  ATTR_MIGRATION_TO,
  ATTR_PROTOCOL_NAME,
  ATTR_REASON,
  ATTR_ROLE,
} from './names.ts';

/** An instrument as the registry defines it. `attributes` is the order of its label values. */
export interface MetricDefinition {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly instrument: 'counter' | 'updowncounter' | 'gauge' | 'histogram';
  readonly attributes: readonly string[];
  /** Bucket boundaries of a histogram. */
  readonly boundaries: readonly number[];
}

export const METRIC_CLIENT_RECONNECTS: MetricDefinition = {
  name: 'event_stream.client.reconnects',
  description: 'Reconnects of logical streams, as the reading end judged them.',
  unit: '{reconnect}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_CLASSIFICATION, ATTR_REASON, ATTR_LOAD_LEVEL],
  boundaries: [],
};

export const METRIC_SERVER_RECONNECTS: MetricDefinition = {
  name: 'event_stream.server.reconnects',
  description: 'Resume requests, as the writing end judged them.',
  unit: '{reconnect}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_CLASSIFICATION, ATTR_REASON, ATTR_LOAD_LEVEL],
  boundaries: [],
};

export const METRIC_CLIENT_REORIGINATIONS: MetricDefinition = {
  name: 'event_stream.client.reoriginations',
  description:
    'Reconnects that were given another stream than the one asked for, as the reading end sees it.',
  unit: '{reorigination}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_REASON, ATTR_LOAD_LEVEL],
  boundaries: [],
};

export const METRIC_SERVER_REORIGINATIONS: MetricDefinition = {
  name: 'event_stream.server.reoriginations',
  description:
    'Resume requests that were given another stream than the one asked for, as the writing end sees it.',
  unit: '{reorigination}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_REASON, ATTR_LOAD_LEVEL],
  boundaries: [],
};

export const METRIC_CLIENT_GAPS: MetricDefinition = {
  name: 'event_stream.client.gaps',
  description:
    'Places where events are proven missing, or where the log changed inside a connection (reading end).',
  unit: '{gap}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_GAP_SOURCE, ATTR_LOAD_LEVEL],
  boundaries: [],
};

export const METRIC_SERVER_GAPS: MetricDefinition = {
  name: 'event_stream.server.gaps',
  description:
    'Places where events are proven missing, or where the log changed inside a connection (writing end).',
  unit: '{gap}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_GAP_SOURCE, ATTR_LOAD_LEVEL],
  boundaries: [],
};

export const METRIC_CLIENT_MISSED_EVENTS: MetricDefinition = {
  name: 'event_stream.client.missed_events',
  description: 'Events proven lost (reading end). A loss of unknown size adds nothing here.',
  unit: '{event}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_GAP_SOURCE, ATTR_LOAD_LEVEL],
  boundaries: [],
};

export const METRIC_SERVER_MISSED_EVENTS: MetricDefinition = {
  name: 'event_stream.server.missed_events',
  description: 'Events proven lost (writing end). A loss of unknown size adds nothing here.',
  unit: '{event}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_GAP_SOURCE, ATTR_LOAD_LEVEL],
  boundaries: [],
};

export const METRIC_CLIENT_DUPLICATE_EVENTS: MetricDefinition = {
  name: 'event_stream.client.duplicate_events',
  description: 'Events received a second time.',
  unit: '{event}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_LOAD_LEVEL],
  boundaries: [],
};

export const METRIC_SERVER_DUPLICATE_EVENTS: MetricDefinition = {
  name: 'event_stream.server.duplicate_events',
  description: 'Events sent again.',
  unit: '{event}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_LOAD_LEVEL],
  boundaries: [],
};

export const METRIC_CLIENT_RECEIVED_EVENTS: MetricDefinition = {
  name: 'event_stream.client.received_events',
  description: 'Application events received.',
  unit: '{event}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME],
  boundaries: [],
};

export const METRIC_SERVER_SENT_EVENTS: MetricDefinition = {
  name: 'event_stream.server.sent_events',
  description: 'Application events sent.',
  unit: '{event}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME],
  boundaries: [],
};

export const METRIC_CLIENT_CONNECTION_ACTIVE: MetricDefinition = {
  name: 'event_stream.client.connection.active',
  description: 'Streams that this process is reading.',
  unit: '{connection}',
  instrument: 'updowncounter',
  attributes: [ATTR_PROTOCOL_NAME],
  boundaries: [],
};

export const METRIC_SERVER_CONNECTION_ACTIVE: MetricDefinition = {
  name: 'event_stream.server.connection.active',
  description: 'Streams that this process is writing.',
  unit: '{connection}',
  instrument: 'updowncounter',
  attributes: [ATTR_PROTOCOL_NAME],
  boundaries: [],
};

export const METRIC_MIGRATIONS: MetricDefinition = {
  name: 'event_stream.migrations',
  description: 'Streams that went from one transport to another, and those that were refused to.',
  unit: '{migration}',
  instrument: 'counter',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_MIGRATION_FROM, ATTR_MIGRATION_TO, ATTR_MIGRATION_OUTCOME],
  boundaries: [],
};

export const METRIC_CLIENT_OUTAGE_DURATION: MetricDefinition = {
  name: 'event_stream.client.outage.duration',
  description: 'Time from the end of the last connection that was up to this verdict.',
  unit: 's',
  instrument: 'histogram',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_CLASSIFICATION],
  boundaries: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600],
};

export const METRIC_CLIENT_CONNECTION_DURATION: MetricDefinition = {
  name: 'event_stream.client.connection.duration',
  description: 'Time from the attempt to the end of a connection that was up (reading end).',
  unit: 's',
  instrument: 'histogram',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_DISCONNECT_REASON],
  boundaries: [1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400, 43200, 86400, 259200, 604800],
};

export const METRIC_SERVER_CONNECTION_DURATION: MetricDefinition = {
  name: 'event_stream.server.connection.duration',
  description: 'Time from the request to the end of a connection that was up (writing end).',
  unit: 's',
  instrument: 'histogram',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_DISCONNECT_REASON],
  boundaries: [1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400, 43200, 86400, 259200, 604800],
};

export const METRIC_SERVER_REPLAY_SIZE: MetricDefinition = {
  name: 'event_stream.server.replay.size',
  description: 'Events written again before the first live one, for each resume request.',
  unit: '{event}',
  instrument: 'histogram',
  attributes: [ATTR_PROTOCOL_NAME],
  boundaries: [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
};

export const METRIC_SERVER_REPLAY_WINDOW_USAGE: MetricDefinition = {
  name: 'event_stream.server.replay_window.usage',
  description: 'Events held for replay, of the fullest window.',
  unit: '{event}',
  instrument: 'gauge',
  attributes: [ATTR_PROTOCOL_NAME],
  boundaries: [],
};

export const METRIC_SERVER_REPLAY_WINDOW_LIMIT: MetricDefinition = {
  name: 'event_stream.server.replay_window.limit',
  description: 'Events that the fullest replay window can hold.',
  unit: '{event}',
  instrument: 'gauge',
  attributes: [ATTR_PROTOCOL_NAME],
  boundaries: [],
};

export const METRIC_RECONNECT_EVENT_LOOP_UTILIZATION: MetricDefinition = {
  name: 'event_stream.reconnect.event_loop_utilization',
  description: 'How busy the event loop was over the last second when a reconnect got its verdict.',
  unit: '1',
  instrument: 'histogram',
  attributes: [ATTR_PROTOCOL_NAME, ATTR_CLASSIFICATION, ATTR_ROLE],
  boundaries: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99],
};

export const METRIC_INSTRUMENTATION_ERRORS: MetricDefinition = {
  name: 'event_stream.instrumentation.errors',
  description: 'Failures of the instrumentation itself; the application never notices them.',
  unit: '{error}',
  instrument: 'counter',
  attributes: [ATTR_REASON],
  boundaries: [],
};

export const METRICS: readonly MetricDefinition[] = [
  METRIC_CLIENT_RECONNECTS,
  METRIC_SERVER_RECONNECTS,
  METRIC_CLIENT_REORIGINATIONS,
  METRIC_SERVER_REORIGINATIONS,
  METRIC_CLIENT_GAPS,
  METRIC_SERVER_GAPS,
  METRIC_CLIENT_MISSED_EVENTS,
  METRIC_SERVER_MISSED_EVENTS,
  METRIC_CLIENT_DUPLICATE_EVENTS,
  METRIC_SERVER_DUPLICATE_EVENTS,
  METRIC_CLIENT_RECEIVED_EVENTS,
  METRIC_SERVER_SENT_EVENTS,
  METRIC_CLIENT_CONNECTION_ACTIVE,
  METRIC_SERVER_CONNECTION_ACTIVE,
  METRIC_MIGRATIONS,
  METRIC_CLIENT_OUTAGE_DURATION,
  METRIC_CLIENT_CONNECTION_DURATION,
  METRIC_SERVER_CONNECTION_DURATION,
  METRIC_SERVER_REPLAY_SIZE,
  METRIC_SERVER_REPLAY_WINDOW_USAGE,
  METRIC_SERVER_REPLAY_WINDOW_LIMIT,
  METRIC_RECONNECT_EVENT_LOOP_UTILIZATION,
  METRIC_INSTRUMENTATION_ERRORS,
];
