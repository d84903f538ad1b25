// One instance behind a balancer: its logs live in memory and die with it. It prints what it said.
import { writeSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { cursorOf, eventText, Feed, openStream } from '../feed.ts';
import { watchVerdicts } from '../watch.ts';

const [port = '0', boot = 'boot'] = process.argv.slice(2);
const EVERY = 20;

// Written at once: nothing may wait in a buffer for the kill.
watchVerdicts((connection, _role, verdict) => {
  writeSync(1, `${JSON.stringify({ connection, verdict })}\n`);
});

/** `shared`: all instances have one log, as from a broker. Else each has its own, and may say so. */
const feeds = new Map<string, Feed>();
const open = new Map<ServerResponse, string>();

function feedOf(path: string): Feed {
  const found = feeds.get(path) ?? new Feed(`${boot}${path}`);
  feeds.set(path, found);
  return found;
}

/** A broker numbers by time, so that every instance holds the same events. */
function sharedNow(): number {
  return Math.floor(Date.now() / EVERY) % 1_000_000_000;
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? '';
  const cursor = cursorOf(request);
  response.on('close', () => open.delete(response));
  if (path.startsWith('/shared')) {
    openStream(response, undefined);
    const now = sharedNow();
    const from = cursor === undefined ? now : cursor + 1;
    for (let n = Math.max(from, now - 5000); n <= now; n += 1) write(response, 'shared', n);
    sent.set(response, now);
  } else {
    const feed = feedOf(path);
    openStream(response, path.startsWith('/stamped') ? feed.log : undefined);
    const known = cursor === undefined ? undefined : feed.after(cursor);
    for (const n of known ?? []) write(response, feed.log, n);
    write(response, feed.log, feed.publish());
  }
  open.set(response, path);
}

const sent = new WeakMap<ServerResponse, number>();

function write(response: ServerResponse, log: string, n: number): void {
  response.write(eventText({ log, n }));
}

setInterval(() => {
  const now = sharedNow();
  for (const [response, path] of open) {
    if (path.startsWith('/shared')) {
      for (let n = (sent.get(response) ?? now) + 1; n <= now; n += 1) write(response, 'shared', n);
      sent.set(response, now);
    } else {
      const feed = feedOf(path);
      write(response, feed.log, feed.publish());
    }
  }
}, EVERY);

createServer((request, response) => {
  if (request.url === '/health') response.end('ok');
  else answer(request, response);
}).listen(Number(port), '127.0.0.1');
