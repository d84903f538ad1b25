import { setTimeout as sleep } from 'node:timers/promises';
import type { Sample } from '../counters.ts';
import { scrape } from '../counters.ts';
import { DemoStuck } from '../within.ts';
import { total } from './curve.ts';
import type { LoadStage } from './load-stage.ts';
import { DROPPED, READERS } from './load-stage.ts';

/** Shares of the time in which the server has other work. */
const SHARES: readonly number[] = [0, 0.2, 0.4, 0.55, 0.7, 0.8, 0.88, 0.95];

/** How often readers are dropped at each load. */
const DROPS = 3;
/** The probe and the server both look back over about a second. */
const WARM_UP = 2_000;
/** By then everybody has read something that a cursor can come from. */
const READ_ON = 300;
const POLLS = 40;
const POLL_PAUSE = 250;

/** What happened in truth, and what was said of it. */
interface Count {
  readonly reconnects: number;
  /** Reconnects whose events were no longer in the window. */
  readonly reoriginated: number;
  /** Events that were no longer there. */
  readonly missed: number;
}

export interface LoadStep {
  readonly share: number;
  /** What the server itself knows of each answer that it gave. */
  readonly truth: Count;
  /** What its counters say. */
  readonly said: Count;
}

const SCRAPED: RegExp =
  /^event_stream_(?:server_(?:reconnects|missed_events)_total|reconnect_event_loop_utilization_bucket)$/;

/** Raises the load step by step, and drops readers at each. */
export async function raiseLoad(
  stage: LoadStage,
  onStep: (step: LoadStep) => void,
): Promise<readonly Sample[]> {
  await allOpened(stage, READERS);
  let before: Totals = { truth: NOTHING, said: NOTHING, samples: [] };
  for (const [index, share] of SHARES.entries()) {
    stage.server.tell({ kind: 'busy', share });
    await sleep(WARM_UP);
    for (let drop = 1; drop <= DROPS; drop++) {
      stage.server.tell({ kind: 'drop' });
      await allOpened(stage, READERS + DROPPED * (index * DROPS + drop));
      await sleep(READ_ON);
    }
    const now = await totals(stage, DROPPED * (index + 1) * DROPS);
    onStep({ share, truth: minus(now.truth, before.truth), said: minus(now.said, before.said) });
    before = now;
  }
  stage.server.tell({ kind: 'busy', share: 0 });
  return before.samples;
}

async function allOpened({ readers }: LoadStage, count: number): Promise<void> {
  await readers.hear('opened', () => readers.heard('opened').length >= count);
}

interface Totals {
  readonly truth: Count;
  readonly said: Count;
  readonly samples: readonly Sample[];
}

const NOTHING: Count = { reconnects: 0, reoriginated: 0, missed: 0 };

/** @throws DemoStuck when not every reconnect has got its verdict after ten seconds. */
async function totals(stage: LoadStage, reconnects: number): Promise<Totals> {
  for (let poll = 0; poll < POLLS; poll++) {
    const samples = await scrape([stage.server], SCRAPED);
    const said = saidBy(samples);
    const truth = truthOf(stage);
    if (said.reconnects >= reconnects && truth.reconnects >= reconnects) {
      return { truth, said, samples };
    }
    await sleep(POLL_PAUSE);
  }
  throw new DemoStuck(`waited in vain for ${reconnects} verdicts of the server`);
}

function truthOf({ server }: LoadStage): Count {
  const answers = server.heard('answered').map(({ lost = 0 }) => lost);
  return {
    reconnects: answers.length,
    reoriginated: answers.filter((lost) => lost > 0).length,
    missed: answers.reduce((sum, lost) => sum + lost, 0),
  };
}

function saidBy(samples: readonly Sample[]): Count {
  const reconnects = 'event_stream_server_reconnects_total';
  return {
    reconnects: total(samples, reconnects),
    reoriginated: total(samples, reconnects, { event_stream_classification: 'reoriginated' }),
    missed: total(samples, 'event_stream_server_missed_events_total'),
  };
}

function minus(a: Count, b: Count): Count {
  return {
    reconnects: a.reconnects - b.reconnects,
    reoriginated: a.reoriginated - b.reoriginated,
    missed: a.missed - b.missed,
  };
}
