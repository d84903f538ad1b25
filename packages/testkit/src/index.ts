export type { NodeLine } from './node-lines.ts';
export { nodeBinary } from './node-lines.ts';
