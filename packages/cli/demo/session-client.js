// A client that reads a session as server-sent events and then moves it to a WebSocket. Nothing in it
// knows of Same River: node --import @sameriver/node/register session-client.js
import process from 'node:process';

const READ = 10;
const LIVE = 14;

async function read({ session }) {
  const feed = new AbortController();
  const { body } = await fetch(`${session}/events`, { signal: feed.signal });
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes(`id: ${READ}\n`)) break;
  }
  feed.abort();
  process.send({ kind: 'read' });
}

async function move({ session }) {
  const headers = { 'last-event-id': String(READ) };
  const { status, ok } = await fetch(`${session}/upgrade`, { method: 'POST', headers });
  process.send({ kind: 'moved', status, ids: ok ? await idsOf(`${session}/ws`) : [] });
}

function idsOf(url) {
  const { promise, resolve } = Promise.withResolvers();
  const socket = new WebSocket(url.replace('http', 'ws'));
  const ids = [];
  socket.addEventListener('message', ({ data }) => {
    ids.push(JSON.parse(data).id);
    if (ids.at(-1) === LIVE) resolve(ids);
  });
  socket.addEventListener('close', () => resolve(ids));
  return promise;
}

const orders = { read, move };

process.on('message', (order) => orders[order.kind](order));
process.on('disconnect', () => process.exit());
process.send({ kind: 'ready' });
