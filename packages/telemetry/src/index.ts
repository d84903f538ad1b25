export type { MetricDefinition } from './metric-definitions.ts';
export { METRICS } from './metric-definitions.ts';
export { createRecorder } from './recorder.ts';
export { StreamSpanProcessor } from './span-processor.ts';
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
  RecorderOptions,
  ReplayWindow,
  StreamRecorder,
} from './types.ts';
