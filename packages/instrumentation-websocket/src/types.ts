import type { InstrumentationConfig } from '@opentelemetry/instrumentation';
import type { TimelineOptions } from '@sameriver/core';
import type { StreamOptions } from '@sameriver/telemetry';

/** Options of `WebSocketInstrumentation`; each may be left out. */
export interface WebSocketInstrumentationConfig
  extends InstrumentationConfig,
    StreamOptions,
    Pick<TimelineOptions, 'decodeBinary'> {}
