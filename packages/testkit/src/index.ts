export { type NodeLine, nodeBinary } from './node-lines.ts';
