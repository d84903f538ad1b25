export type { ConnectionPart, Incident } from './incidents.ts';
export { incidents, transcriptJson } from './incidents.ts';
export type { NodeLine } from './node-lines.ts';
export { nodeBinary } from './node-lines.ts';
