export type {
  Capture,
  CaptureOptions,
  ConnectionStart,
  EventBudget,
  EventLogger,
  EventMode,
  InstrumentationErrorReason,
  LoadLimits,
  LoadOptions,
  RecorderOptions,
  ReplayWindow,
  StreamRecorder,
} from './types.ts';
