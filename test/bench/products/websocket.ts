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

const identity = process.env['BENCH_IDENTITY'] === 'id' ? 'id' : 'payload';
const isNumbered = process.env['BENCH_PROFILE'] === 'numbered';
new WebSocketInstrumentation({ identity, ...(isNumbered ? { profiles } : {}) });
