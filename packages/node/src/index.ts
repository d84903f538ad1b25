export type { SseInstrumentationConfig } from '@sameriver/instrumentation-sse';
export type { WebSocketInstrumentationConfig } from '@sameriver/instrumentation-websocket';
export { StreamSpanProcessor } from '@sameriver/telemetry';
export { getInstrumentations } from './instrumentations.ts';
