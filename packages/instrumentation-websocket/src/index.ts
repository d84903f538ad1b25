export { WebSocketInstrumentation } from './instrumentation.ts';
export type { ReplayConfig, ReplayControl } from './replay-control.ts';
export { replayControl } from './replay-control.ts';
export type { AskedRequest, WebSocketInstrumentationConfig } from './types.ts';
