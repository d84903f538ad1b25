import type { Terminal } from '../terminal.ts';

/** One word after `sameriver`. A new command is one file here and one entry in `main.ts`. */
export interface Command {
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  /**
   * @param args What follows the command's name.
   * @returns The exit status.
   * @throws UsageError for a command line that makes no sense.
   */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

/** The command line is wrong; the message is half a sentence without a full stop. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What `parseArgs` of Node finds wrong. */
export function usageErrorFrom(error: unknown): UsageError {
  // Its messages go on with advice about "--" that helps nobody here.
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split('. ');
  return new UsageError(message.charAt(0).toLowerCase() + message.slice(1));
}
