// Does the cost of an event, or of a connection, stay the same however many there are?
import type { StreamConnection, StreamObserver, StreamTimeline } from '@sameriver/core';
import { createClientTimeline, createServerTimeline } from '@sameriver/core';
import { smallEvent } from './lib/event-streams.ts';
import { cpuNow } from './lib/interleave.ts';
import { figure, finish, heading, judge, printTable } from './lib/report.ts';
import { spreadOf } from './lib/spread.ts';

type Role = 'client' | 'server';

const SILENT: StreamObserver = { settled() {}, revised() {}, inStream() {}, ended() {} };
const DOUBLINGS = [1, 2, 4, 8, 16, 32];
const FIRST_EVENTS = 5000;
const FIRST_STREAMS = 125;
const TIMES = 5;
// Caches fill up: 4,000 streams do not lie in the one that 125 lie in.
const FLAT = 1.5;
const FLAT_STREAMS = 2;

const rows: string[][] = [];
for (const role of ['client', 'server'] as const) {
  grow(role, 'events on one stream, ns each', eventsOnOne, FLAT);
  grow(role, 'streams, ns for an event on each', eventsOnMany, FLAT_STREAMS);
  grow(role, 'streams on own paths, ns to open and close', openings('own'), FLAT_STREAMS);
  grow(role, 'streams on one path, ns to open and close', openings('shared'), FLAT_STREAMS);
}
heading(`Growth: events and streams doubled five times`);
printTable(['side', 'what', ...DOUBLINGS.map((times) => `x ${times}`), 'last / first'], rows);
finish();

function grow(
  role: Role,
  what: string,
  cost: (role: Role, times: number) => number,
  flat: number,
): void {
  for (let n = 0; n < 3; n++) cost(role, 4);
  const runs = Array.from({ length: TIMES }, () => DOUBLINGS.map((times) => cost(role, times)));
  const best = DOUBLINGS.map((_, i) => Math.min(...runs.map((run) => run[i] ?? Number.NaN)));
  const growth = runs.map((run) => (run.at(-1) ?? Number.NaN) / (run[0] ?? Number.NaN));
  rows.push([role, what, ...best.map(figure), figure((best.at(-1) ?? 0) / (best[0] ?? 1))]);
  judge('growth', `${role}: ${what}, x 32 / x 1`, spreadOf(growth), { atMost: flat });
}

function eventsOnOne(role: Role, times: number): number {
  const connection = open(timelineOf(role), '/one');
  const count = FIRST_EVENTS * times;
  const events = Array.from({ length: count }, (_, n) => Buffer.from(smallEvent(100_000 + n, 60)));
  const started = cpuNow();
  for (const event of events) connection.push(event);
  return (cpuNow() - started) / count;
}

function eventsOnMany(role: Role, times: number): number {
  const timeline = timelineOf(role);
  const count = FIRST_STREAMS * times;
  const connections = Array.from({ length: count }, (_, n) => open(timeline, `/many/${n}`));
  const events = Array.from({ length: 20 }, (_, n) => Buffer.from(smallEvent(100_000 + n, 60)));
  const started = cpuNow();
  for (const event of events) for (const connection of connections) connection.push(event);
  return (cpuNow() - started) / (events.length * count);
}

function openings(paths: 'own' | 'shared'): (role: Role, times: number) => number {
  return (role, times) => {
    const timeline = timelineOf(role);
    const count = FIRST_STREAMS * times;
    const event = Buffer.from(smallEvent(100_000, 60));
    const started = cpuNow();
    const connections = Array.from({ length: count }, (_, n) =>
      open(timeline, paths === 'own' ? `/own/${n}` : '/shared'),
    );
    for (const connection of connections) connection.push(event);
    for (const connection of connections) connection.end('eof', 2);
    return (cpuNow() - started) / count;
  };
}

function timelineOf(role: Role): StreamTimeline {
  const create = role === 'client' ? createClientTimeline : createServerTimeline;
  return create({ observer: SILENT });
}

function open(timeline: StreamTimeline, target: string): StreamConnection {
  const header = (name: string): string | undefined =>
    name === 'accept' ? 'text/event-stream' : undefined;
  const request = {
    transport: 'sse',
    method: 'GET',
    origin: 'http://bench',
    target,
    header,
  } as const;
  const connection = timeline.open(request, 1);
  connection.response(200, (name) => (name === 'content-type' ? 'text/event-stream' : undefined));
  return connection;
}
