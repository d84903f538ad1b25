// The same client behind a guard: an event stream reaches it only as far as it continues what it has.
import process from 'node:process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { createGuard, jsonKey, memoryLedger } from '@sameriver/guard';

const [url] = process.argv.slice(2);
const guard = createGuard({
  ledger: memoryLedger(),
  // Each task is reported once, so what it says names it.
  key: jsonKey('/params/data'),
  // Nothing on this wire proves a resumption. Every task has a key, so it can be compared.
  onUnverifiable: () => 'reoriginated',
});
const fetch = guard.fetch({ mode: 'filter' });
const client = new Client({ name: 'guarded-listener', version: '1.0.0' });

client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
  process.send({ kind: 'heard', text: params.data });
});
client.onerror = ({ message }) => process.send({ kind: 'error', message });

process.on('message', () => process.send({ kind: 'bill', bill: guard.bill }));
process.on('disconnect', () => process.exit());

await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch }));
