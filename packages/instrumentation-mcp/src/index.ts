export { McpInstrumentation } from './instrumentation.ts';
export type { McpInstrumentationConfig } from './types.ts';
