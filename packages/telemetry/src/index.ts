export type { MetricDefinition } from './metric-definitions.ts';
export { METRICS } from './metric-definitions.ts';
export type {
  CollectMetrics,
  Exemplar,
  MetricSeries,
  MetricSink,
  SeriesExemplar,
} from './metric-sink.ts';
export { addMetricSink } from './metric-sink.ts';
export { countInstrumentationError } from './process-errors.ts';
export { createRecorder } from './recorder.ts';
export type { ReplayControl, ReplayOptions } from './replay-control.ts';
export { replayControl } from './replay-control.ts';
export { StreamSpanProcessor } from './span-processor.ts';
export type { AskedRequest, StartTap, StopTap, TapHost, Taps } from './tap.ts';
export type { TapOptions } from './taps.ts';
export { startTaps } from './taps.ts';
export type {
  Capture,
  CaptureOptions,
  ConnectionStart,
  DelayWatch,
  EventBudget,
  EventLogger,
  EventMode,
  InstrumentationErrorReason,
  LoadLimits,
  LoadOptions,
  LoadSource,
  LoopTimes,
  MetricsMode,
  RecorderOptions,
  ReplayWindow,
  StreamRecorder,
} from './types.ts';
