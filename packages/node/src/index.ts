export type { SseInstrumentationConfig } from '@sameriver/instrumentation-sse';
export type { WebSocketInstrumentationConfig } from '@sameriver/instrumentation-websocket';
export type { OriginIndex } from '@sameriver/telemetry';
export { StreamSpanProcessor } from '@sameriver/telemetry';
export type { RedisClient, RedisOriginIndexOptions } from '@sameriver/telemetry/origin-redis';
export { redisOriginIndex } from '@sameriver/telemetry/origin-redis';
export { getInstrumentations } from './instrumentations.ts';
