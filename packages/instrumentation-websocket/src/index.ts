export type { AskedRequest } from '@sameriver/telemetry';
export { WebSocketInstrumentation } from './instrumentation.ts';
export type { WebSocketInstrumentationConfig } from './types.ts';
