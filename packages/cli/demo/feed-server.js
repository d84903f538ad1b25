// A feed of numbered events, as services write them: whoever comes back is sent what the window still
// holds. The window shrinks when the service is busy, as a buffer does whose memory others want. Nothing
// in it knows of Same River: node --import @sameriver/node/register feed-server.js
import { createServer } from 'node:http';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { keepBusy } from './busy-loop.js';

const [rate, window, dropped, longest] = process.argv.slice(2).map(Number);
const PACE = 20;
const LOOK_BACK = 500;

const kept = [];
const open = new Set();
let last = 0;
let limit = window;
let connections = 0;

function publish() {
  const event = { id: ++last, text: `id: ${last}\ndata: {"job":${last}}\n\n` };
  kept.push(event);
  for (const response of open) response.write(event.text);
}

function evict() {
  if (kept.length > limit) kept.splice(0, kept.length - limit);
}

// How long this reader stays away after a drop: evenly spread over all that are dropped together.
function absence() {
  return Math.round((((connections++ % dropped) + 0.5) / dropped) * longest);
}

const server = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write(`retry: ${absence()}\n\n`);
  const cursor = Number(request.headers['last-event-id'] ?? last);
  const oldest = kept[0]?.id ?? last + 1;
  for (const { id, text } of kept) if (id > cursor) response.write(text);
  open.add(response);
  response.on('close', () => open.delete(response));
  if (request.headers['last-event-id'] !== undefined) {
    process.send({ kind: 'answered', lost: Math.max(0, oldest - cursor - 1) });
  }
});

let began = performance.now();
let due = 0;
setInterval(() => {
  due += ((performance.now() - began) * rate) / 1000;
  began = performance.now();
  for (; due >= 1; due--) publish();
  evict();
}, PACE);

let times = performance.eventLoopUtilization();
setInterval(() => {
  const { utilization } = performance.eventLoopUtilization(times);
  times = performance.eventLoopUtilization();
  limit = Math.round(window * (1 - utilization));
}, LOOK_BACK);

const orders = {
  busy: ({ share }) => keepBusy(share),
  // Those that have been connected for longest.
  drop: () => {
    for (const { socket } of [...open].slice(0, dropped)) socket.destroy();
  },
};

process.on('message', (order) => orders[order.kind](order));
process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () => {
  process.send({ kind: 'ready', port: server.address().port });
});
