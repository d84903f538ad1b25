// A server whose sessions are read as server-sent events and may move to a WebSocket. Nothing in it
// knows of Same River: node --import @sameriver/node/register session-server.js
import { createServer, STATUS_CODES } from 'node:http';
import process from 'node:process';
import { WebSocketServer } from 'ws';

const [way] = process.argv.slice(2);
const RING = way === 'refuses' ? 2 : 256;
const GENERATION = { 'x-generation': 'g1' };
const FIRST = 10;
const MEANWHILE = 3;

const ring = [];
let newest = 0;
let reader = () => {};
let processed;

function emit(count) {
  for (let i = 0; i < count; i++) {
    const event = { id: ++newest, result: `tool call ${newest}` };
    ring.push(event);
    if (ring.length > RING) ring.shift();
    reader(event);
  }
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...GENERATION });
    reader = ({ id, result }) => response.write(`id: ${id}\ndata: ${JSON.stringify(result)}\n\n`);
    emit(FIRST);
    response.on('close', () => {
      reader = () => {};
      // Work goes on while the client changes its transport.
      emit(MEANWHILE);
      process.send({ kind: 'away' });
    });
    return;
  }
  processed = Number(request.headers['last-event-id']);
  const isCovered = (ring[0]?.id ?? newest + 1) <= processed + 1;
  const status = way === 'loses' || isCovered ? 202 : 409;
  response.writeHead(status, GENERATION).end(STATUS_CODES[status]);
});

const sockets = new WebSocketServer({ server });
sockets.on('headers', (lines) => {
  for (const [name, value] of Object.entries(GENERATION)) lines.push(`${name}: ${value}`);
});
sockets.on('connection', (socket) => {
  reader = (event) => socket.send(JSON.stringify(event));
  // Whoever attaches to the live tail never sees what the ring still holds.
  if (way === 'replays') for (const event of ring) if (event.id > processed) reader(event);
  emit(1);
});

process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () => {
  process.send({ kind: 'ready', port: server.address().port });
});
