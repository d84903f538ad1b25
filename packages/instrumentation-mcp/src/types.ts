import type { InstrumentationConfig } from '@opentelemetry/instrumentation';
import type { CaptureOptions } from '@sameriver/telemetry';

/** Options of `McpInstrumentation`; each may be left out. */
export interface McpInstrumentationConfig extends InstrumentationConfig {
  /** Describe the streams that this process reads. Default true. */
  readonly client?: boolean;
  /** Describe the streams that this process writes. Default true. */
  readonly server?: boolean;
  /** `epoch`: how session ids leave the process. Default `hash`. */
  readonly capture?: Pick<CaptureOptions, 'epoch'>;
}
