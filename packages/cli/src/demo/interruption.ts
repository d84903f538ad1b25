import process from 'node:process';
import type { Terminal } from '../terminal.ts';
import { DemoStuck } from './within.ts';

const STUCK = 1;
const INTERRUPTED = 130;

/**
 * Plays until the end or until Ctrl-C, and clears away what was started in both cases.
 *
 * @returns The exit status that `play` gives; 130 interrupted, 1 when a part did not do its part.
 */
export async function untilInterrupted(
  play: () => Promise<number>,
  clear: () => Promise<void>,
  terminal: Terminal,
): Promise<number> {
  const interruption = Promise.withResolvers<number>();
  const interrupt = (): void => interruption.resolve(INTERRUPTED);
  process.once('SIGINT', interrupt);
  try {
    return await Promise.race([play(), interruption.promise]);
  } catch (error) {
    if (!(error instanceof DemoStuck)) throw error;
    terminal.err(`${error.message}\n`);
    return STUCK;
  } finally {
    process.off('SIGINT', interrupt);
    await clear();
  }
}
