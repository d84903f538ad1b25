export { captured, epochCapture } from './capture.ts';
export type { StreamFacet } from './facets.ts';
export { addFacet, requestBodies } from './facets.ts';
export { headerLookup, isNamed, textIn } from './header-lookup.ts';
export type { HttpCaller, HttpProtocol, RequestFunction } from './http-front.ts';
export { addHttpCaller, httpFronts, standBeforeHttp } from './http-front.ts';
export { activeHttpSpan } from './http-span.ts';
export { httpAttributes, splitTarget } from './http-target.ts';
export { Interposed } from './interposed.ts';
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
export {
  ATTR_JSONRPC_REQUEST_ID,
  ATTR_MCP_ERA,
  ATTR_MCP_METHOD_NAME,
  ATTR_MCP_PROTOCOL_VERSION,
  ATTR_MCP_SESSION_ID,
  ATTR_MCP_STREAM,
} from './names.ts';
export { tellHeldVerdicts } from './origins/held-verdicts.ts';
export type {
  IssuedRecord,
  KnownIssuer,
  KnownIssuers,
  OriginIndex,
} from './origins/origin-index.ts';
export type { Method, Original } from './patch.ts';
export { hide, standBefore } from './patch.ts';
export { countInstrumentationError } from './process-errors.ts';
export { createRecorder } from './recorder.ts';
export type { ReplayControl, ReplayOptions } from './replay-control.ts';
export { replayControl } from './replay-control.ts';
export { onServerRequests } from './server-requests.ts';
export { StreamSpanProcessor } from './span-processor.ts';
export type { StreamOptions } from './stream-options.ts';
export { subscribeAll } from './subscribe-all.ts';
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
export { Watched } from './watched.ts';
