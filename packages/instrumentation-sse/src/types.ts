import type { InstrumentationConfig } from '@opentelemetry/instrumentation';
import type { StreamOptions } from '@sameriver/telemetry';

/** Options of `SseInstrumentation`; each may be left out. */
export interface SseInstrumentationConfig extends InstrumentationConfig, StreamOptions {}
