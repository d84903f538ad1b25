import { WebSocketInstrumentation } from '@sameriver/instrumentation-websocket';

/** One field of every message is looked up, as an application with positions in its frames needs it. */
const profiles = [
  {
    name: 'numbered',
    match: { transport: 'websocket' },
    messages: 'json',
    cursor: { sent: ['query:since'], received: ['json:/seq'], codec: 'int' },
  },
] as const;

new WebSocketInstrumentation(process.env['BENCH_PROFILE'] === 'numbered' ? { profiles } : {});
