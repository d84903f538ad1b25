import type { Attributes, Context, Span } from '@opentelemetry/api';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { DEFAULT_BUDGET, spend } from './event-budget.ts';
import type { LiveConnection } from './record.ts';
import type { EventBudget, EventLogger, EventMode } from './types.ts';

/** Numbers of the Logs API; its enum is no export of `@opentelemetry/api` 1.9. */
const SEVERITIES = { INFO: 9, WARN: 13, ERROR: 17 } as const;
export type Severity = keyof typeof SEVERITIES;

interface Moment {
  readonly name: string;
  readonly severity: Severity;
  /** Built only when somebody listens. */
  readonly attributes: () => Attributes;
}

/** Tells moments of a stream as log records, span events or both, within the stream's budget. */
export interface Teller {
  tell(live: LiveConnection, moment: Moment): void;
  /** Whether anybody may listen to moments of this connection. */
  mayHear(live: LiveConnection): boolean;
  setLogger(logger: EventLogger | undefined): void;
}

/** @param onFailure Hears of a logger or a span that throws: what else is told must not suffer. */
export function createTeller(
  mode: EventMode,
  now: () => number,
  budget: EventBudget = DEFAULT_BUDGET,
  onFailure: () => void = () => {},
): Teller {
  const logs = mode === 'log' || mode === 'both';
  const spans = mode === 'span' || mode === 'both';
  let logger: EventLogger | undefined;

  function tell(live: LiveConnection, moment: Moment): void {
    try {
      tellListeners(live, moment);
    } catch {
      onFailure();
    }
  }

  function tellListeners(live: LiveConnection, { name, severity, attributes }: Moment): void {
    const log = logs ? logger : undefined;
    const span = spans ? recordingSpan(live) : undefined;
    // Before anything is made: most moments of a storm are nobody's business.
    if (log === undefined && span === undefined) return;
    const context = spanContextOf(live);
    const severityNumber = SEVERITIES[severity];
    const about = { eventName: name, severityNumber, context };
    // Loggers of `@opentelemetry/api-logs` before 0.213 cannot be asked.
    const listener = log?.enabled?.(about) === false ? undefined : log;
    if (listener === undefined && span === undefined) return;
    if (!spend(live.memo, budget, now(), severity === 'ERROR')) return;
    const built = attributes();
    listener?.emit({ ...about, severityText: severity, attributes: built });
    span?.addEvent(name, built);
  }

  return {
    tell,
    // A logger without an SDK behind it is there, and says that nobody listens.
    mayHear: (live) =>
      (logs && logger !== undefined && logger.enabled?.() !== false) ||
      (spans && recordingSpan(live) !== undefined),
    setLogger(next) {
      logger = next;
    },
  };
}

function spanContextOf({ memo }: LiveConnection): Context {
  if (memo.spanContext === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, memo.spanContext);
}

/** One of its spans that still records. */
export function recordingSpan({ connect, http }: LiveConnection): Span | undefined {
  try {
    if (connect?.isRecording() === true) return connect;
    return http?.isRecording() === true ? http : undefined;
  } catch {
    return undefined;
  }
}
