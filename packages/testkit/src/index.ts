export type { ConnectionPart, Incident } from './incidents.ts';
export { incidents, transcriptJson } from './incidents.ts';
export type { NodeLine } from './node-lines.ts';
export { nodeBinary } from './node-lines.ts';
export type { TapRecorder } from './recording-recorder.ts';
export { RecordingRecorder } from './recording-recorder.ts';
export type { TimelineStep } from './recording-timeline.ts';
export { RecordingConnection, RecordingTimeline } from './recording-timeline.ts';
