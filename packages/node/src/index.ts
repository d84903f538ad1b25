export type { SseInstrumentationConfig } from '@sameriver/instrumentation-sse';
export { StreamSpanProcessor } from '@sameriver/telemetry';
export { getInstrumentations } from './instrumentations.ts';
