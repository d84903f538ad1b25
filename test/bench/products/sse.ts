import { SseInstrumentation } from '@sameriver/instrumentation-sse';

const identity = process.env['BENCH_IDENTITY'] === 'id' ? 'id' : 'payload';
new SseInstrumentation({ identity });
