import type { Role, Transcript } from '@sameriver/core';
import { differences } from '../replay/expectation.ts';
import { BadTranscript, readTranscript } from '../replay/read-transcript.ts';
import type { Replayed } from '../replay/replay-transcript.ts';
import { replayTranscript } from '../replay/replay-transcript.ts';
import { jsonLine, textLines } from '../replay/report.ts';
import { ReplayStuck } from '../replay/within.ts';
import type { Terminal } from '../terminal.ts';
import { printable } from '../terminal.ts';
import type { Command } from './command.ts';
import type { ReplayOptions } from './replay-options.ts';
import { parseReplayOptions, REPLAY_HELP } from './replay-options.ts';

const MET = 0;
const UNMET = 1;
const BAD = 2;

/** `sameriver replay`: recorded incidents, judged over real sockets or by the rules alone. */
export const replay: Command = {
  name: 'replay',
  summary: 'play recorded incidents and print one verdict per reconnect',
  run: async (args, terminal) => {
    const options = parseReplayOptions(args);
    if (options === 'help') {
      terminal.out(REPLAY_HELP);
      return 0;
    }
    let status = MET;
    for (const file of options.files) {
      status = Math.max(status, await replayFile(file, options, terminal));
    }
    return status;
  },
};

async function replayFile(
  file: string,
  options: ReplayOptions,
  terminal: Terminal,
): Promise<number> {
  try {
    const transcript = await readTranscript(file);
    const replayed = await replayTranscript(transcript, options);
    const render = options.format === 'json' ? jsonLine : textLines;
    terminal.out(render(replayed, transcript, options.side, terminal));
    const unmet = unmetExpectations(replayed, transcript, options.side);
    for (const difference of unmet) terminal.err(`${printable(`${file}: ${difference}`)}\n`);
    return unmet.length === 0 ? MET : UNMET;
  } catch (error) {
    const problem = problemOf(error);
    if (problem === undefined) throw error;
    terminal.err(`${printable(`${file}: ${problem}`)}\n`);
    return BAD;
  }
}

/** What is wrong with the file; `undefined` when something is wrong with us. */
function problemOf(error: unknown): string | undefined {
  if (error instanceof BadTranscript || error instanceof ReplayStuck) return error.message;
  // What a profile or an identity says is compiled when the instrumentation starts.
  if (error instanceof SyntaxError) return `/options: ${error.message}`;
  return undefined;
}

/** `expect` is the client's view, so a server's verdicts are not measured by it. */
function unmetExpectations(replayed: Replayed, transcript: Transcript, side: Role): string[] {
  if (replayed.kind === 'skipped' || side === 'server') return [];
  if (transcript.expect === undefined) return [];
  return differences(transcript.expect, replayed.reconnects);
}
