import process from 'node:process';
import type { Terminal } from '../../terminal.ts';
import { untilInterrupted } from '../interruption.ts';
import { heading, lines, table } from '../pages.ts';
import { untilScraped } from '../targets.ts';
import { curveOf, levelsOf, ratio } from './curve.ts';
import type { LoadStage } from './load-stage.ts';
import { DROPPED, LONGEST_ABSENCE, RATE, READERS, setLoadStage, WINDOW } from './load-stage.ts';
import { percent, plot } from './plot.ts';
import type { LoadStep } from './raise-load.ts';
import { raiseLoad } from './raise-load.ts';

/** Raises the load of a server in steps; the exit status is 1 when a verdict was not the truth. */
export async function runLoad(
  terminal: Terminal,
  targetsFile: string | undefined,
): Promise<number> {
  terminal.out(introduction(terminal));
  const stage = await setLoadStage(process.env['OTEL_EXPORTER_OTLP_ENDPOINT'], targetsFile);
  const playAll = async (): Promise<number> => {
    const status = await play(stage, terminal);
    if (targetsFile !== undefined) await untilScraped();
    return status;
  };
  return await untilInterrupted(playAll, stage.clear, terminal);
}

function introduction(terminal: Terminal): string {
  return (
    terminal.paint('bold', 'Same River: does it happen exactly when we are busy?\n') +
    lines(
      `One feed of ${RATE} events a second and ${READERS} readers on eventsource 4.1.1. The server keeps`,
      `${WINDOW} events for those who come back, fewer the busier it is. At every load alike ${DROPPED} readers`,
      `at a time are dropped and stay away for up to ${LONGEST_ABSENCE} ms. Every answer is a 200.`,
    )
  );
}

const HEAD = ['other work', 'reconnects', 'fell out', 'said so', 'events gone', 'counted', 'ratio'];

async function play(stage: LoadStage, terminal: Terminal): Promise<number> {
  const steps: LoadStep[] = [];
  const samples = await raiseLoad(stage, (step) => {
    steps.push(step);
    terminal.err(`  ${percent(step.share)} other work: ${step.said.reconnects} reconnects\n`);
  });
  terminal.out(heading('What was lost, and what the metrics of the server say', terminal));
  terminal.out(table(HEAD, steps.map(rowOf), terminal));

  terminal.out(heading('Re-origination by load level, from the counter', terminal));
  const levels = levelsOf(samples).filter(({ reconnects }) => reconnects > 0);
  terminal.out(plot(levels, terminal));
  terminal.out(heading('Re-origination by event-loop utilization, from the histogram', terminal));
  terminal.out(plot(curveOf(samples), terminal));

  const wrong = steps.filter(({ truth, said }) => !isSame(truth, said));
  terminal.out(`\n${steps.length - wrong.length} steps counted right, ${wrong.length} wrong\n`);
  return wrong.length === 0 ? 0 : 1;
}

function rowOf({ share, truth, said }: LoadStep): string[] {
  const ratioSaid = ratio({ name: '', ...said }) ?? 0;
  const counts = [
    said.reconnects,
    truth.reoriginated,
    said.reoriginated,
    truth.missed,
    said.missed,
  ];
  return [percent(share), ...counts.map(String), percent(ratioSaid)];
}

function isSame(truth: LoadStep['truth'], said: LoadStep['said']): boolean {
  return (
    truth.reconnects === said.reconnects &&
    truth.reoriginated === said.reoriginated &&
    truth.missed === said.missed
  );
}
