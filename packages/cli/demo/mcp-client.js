// A client on @modelcontextprotocol/sdk that listens to what a server reports. Nothing in it knows of
// Same River: node --import @sameriver/node/register mcp-client.js
import process from 'node:process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

const [url] = process.argv.slice(2);
const client = new Client({ name: 'listener', version: '1.0.0' });

client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
  process.send({ kind: 'heard', text: params.data });
});
client.onerror = ({ message }) => process.send({ kind: 'error', message });

process.on('disconnect', () => process.exit());

await client.connect(new StreamableHTTPClientTransport(new URL(url)));
