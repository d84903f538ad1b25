export type { AskedRequest } from '@sameriver/telemetry';
export { SseInstrumentation } from './instrumentation.ts';
export type { SseInstrumentationConfig } from './types.ts';
