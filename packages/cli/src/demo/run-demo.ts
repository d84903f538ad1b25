import process from 'node:process';
import type { Terminal } from '../terminal.ts';
import { reconnectsByLevel, scrape } from './counters.ts';
import type { Expected } from './findings.ts';
import { findingOf, wrongVerdicts } from './findings.ts';
import { untilInterrupted } from './interruption.ts';
import {
  FINDING_HEAD,
  findingRow,
  heading,
  levelTable,
  lines,
  sampleLines,
  table,
} from './pages.ts';
import { overrunWindow, STEPS } from './short-window.ts';
import type { Stage } from './stage.ts';
import { setStage, WINDOW } from './stage.ts';
import { untilScraped } from './targets.ts';
import { tellGuard } from './tell-guard.ts';
import { tellMoves } from './tell-moves.ts';
import { CURSOR, LOST, resumeOnWrongInstance } from './wrong-instance.ts';

const AS_EXPECTED = 0;
const OTHERWISE = 1;

/** Plays the incidents and tells them; the exit status is 1 when a verdict is not the right one. */
export async function runDemo(
  terminal: Terminal,
  targetsFile: string | undefined,
): Promise<number> {
  terminal.out(introduction(terminal));
  const copyTo = process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const stage = await setStage(copyTo, targetsFile);
  const playAll = async (): Promise<number> => {
    const status = await play(stage, copyTo, terminal);
    if (targetsFile !== undefined) await untilScraped();
    return status;
  };
  return await untilInterrupted(playAll, stage.clear, terminal);
}

async function play(stage: Stage, copyTo: string | undefined, terminal: Terminal): Promise<number> {
  const expected = [
    ...(await tellWrongInstance(stage, terminal)),
    ...(await tellShortWindow(stage, terminal)),
    ...(await tellMoves(stage, 3, terminal)),
  ];
  const notOnce = await tellGuard(stage, 4, terminal);
  await tellMetrics(stage, terminal);
  terminal.out(traces(copyTo, stage.inbox.trouble, terminal));
  const wrong = wrongVerdicts(expected);
  for (const line of [...wrong, ...notOnce]) terminal.err(`${line}\n`);
  terminal.out(`\n${expected.length - wrong.length} verdicts right, ${wrong.length} wrong\n`);
  return wrong.length + notOnce.length === 0 ? AS_EXPECTED : OTHERWISE;
}

function introduction(terminal: Terminal): string {
  return (
    terminal.paint('bold', 'Same River: did the reconnect continue the stream?\n') +
    lines(
      'Two servers and their clients on @modelcontextprotocol/sdk 1.32.2, behind a balancer without',
      'affinity. No line in them knows of Same River; each process was started with one flag:',
      'node --import @sameriver/node/register',
    )
  );
}

async function tellWrongInstance(stage: Stage, terminal: Terminal): Promise<Expected[]> {
  terminal.out(heading('1  The client resumes on the other instance', terminal));
  terminal.out(
    lines(
      `Instance A numbers its events up to ${CURSOR}. The connection drops; A reports ${LOST} more.`,
      `The client asks for what follows ${CURSOR}, and the balancer asks instance B, which takes the`,
      'session over by its id and goes on with numbers of its own.',
    ),
  );
  const { status, heard, errors, ends } = await resumeOnWrongInstance(stage);
  const found = [findingOf('client', ends.client), findingOf('server', ends.server)];
  const what = 'resume on the other instance';
  terminal.out(
    lines(
      '',
      `What the client believed: status ${status}, stream open, events flowing:`,
      `  ${heard.map((text) => JSON.stringify(text)).join(', ')}`,
      `and of errors nothing but the drop itself: ${errors.map((text) => JSON.stringify(text))}`,
      `What it never got: ${LOST} events. What both ends say with Same River:`,
    ),
  );
  terminal.out(table(FINDING_HEAD, found.map(findingRow), terminal));
  terminal.out(
    lines('The epoch is the hash of the session id: the same on both, which proves nothing.'),
  );
  return found.map((each) => ({
    what,
    found: each,
    classification: 'reoriginated',
    reason: 'cursor_not_advanced',
  }));
}

async function tellShortWindow(stage: Stage, terminal: Terminal): Promise<Expected[]> {
  const away = STEPS.map((step) => step.away).join(', ');
  terminal.out(heading('2  The replay window is overrun, when the service is busy', terminal));
  terminal.out(
    lines(
      `One instance, which keeps ${WINDOW} events for those who come back. Three times the connection`,
      `drops, under rising load, and ${away} events happen meanwhile. The balancer goes on reading`,
      'from the half-dead connection, so the server wrote them all, to nobody.',
      '',
    ),
  );
  const drops = await overrunWindow(stage);
  const statuses = [...new Set(drops.map(({ status }) => status))];
  const rows = drops.flatMap(({ ends, lost }) => [
    { found: findingOf('client', ends.client), lost },
    { found: findingOf('server', ends.server), lost },
  ]);
  terminal.out(
    table(
      FINDING_HEAD,
      rows.map(({ found }) => findingRow(found)),
      terminal,
    ),
  );
  terminal.out(
    lines(
      `What the client believed: status ${statuses.join(' or ')} each time, and numbers that rise.`,
      'A hole and a pause look alike to it: unverifiable. The server knows what it wrote, and counts',
      'what it skipped.',
    ),
  );
  return rows.map(({ found, lost }) => {
    const what = `drop at cursor ${found.cursors}`;
    if (found.role === 'client') return { what, found, classification: 'unverifiable' };
    return lost === 0
      ? { what, found, classification: 'resumed', reason: 'replay_observed' }
      : {
          what,
          found,
          classification: 'reoriginated',
          reason: 'window_exceeded',
          missed: String(lost),
        };
  });
}

async function tellMetrics(stage: Stage, terminal: Terminal): Promise<void> {
  const samples = await scrape(stage.players());
  terminal.out(heading('Reconnects by load level', terminal));
  terminal.out(levelTable(reconnectsByLevel(samples), terminal));
  terminal.out(
    heading(
      'What alerts are written on, from GET /metrics (… is event_stream_; scope labels left out)',
      terminal,
    ),
  );
  const told = samples.filter(({ metric, value }) => value > 0 && !/_reconnects_/.test(metric));
  terminal.out(sampleLines(told));
}

function traces(
  copyTo: string | undefined,
  trouble: string | undefined,
  terminal: Terminal,
): string {
  const search = [
    'Search in Jaeger, service mcp-server-a, tags: event_stream.classification=reoriginated',
    'Each reconnect is a trace of its own with both ends in it, and links to the one before.',
  ];
  const title = heading('The same in Jaeger', terminal);
  if (copyTo === undefined) {
    return (
      title +
      lines(
        'Start Jaeger and the demo again, with OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318',
        ...search,
      )
    );
  }
  if (trouble !== undefined) {
    return title + lines(`The spans could not be sent to ${copyTo} (OTLP over HTTP): ${trouble}`);
  }
  return title + lines(`All spans were sent to ${copyTo} as well.`, ...search);
}
