import manifest from '../package.json' with { type: 'json' };
import type { Command } from './commands/command.ts';
import { UsageError } from './commands/command.ts';
import { demo } from './commands/demo.ts';
import { replay } from './commands/replay.ts';
import type { Terminal } from './terminal.ts';
import { processTerminal } from './terminal.ts';

/** Every command, in the order in which help lists them. */
const COMMANDS: readonly Command[] = [replay, demo];

/**
 * Runs one command line.
 *
 * @param args What follows the program name.
 * @param terminal Where output goes; the process's own streams when absent.
 * @returns The exit status: 0 done, 1 an expectation was not met, 2 the command line or a file was
 *   bad.
 */
export async function main(
  args: readonly string[],
  terminal: Terminal = processTerminal(),
): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.out(overview());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-v') {
    terminal.out(`${manifest.version}\n`);
    return 0;
  }
  const command = COMMANDS.find((known) => known.name === name);
  try {
    if (command === undefined) throw new UsageError(`there is no command ${JSON.stringify(name)}`);
    return await command.run(rest, terminal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const scope = command === undefined ? 'sameriver' : `sameriver ${command.name}`;
    terminal.err(`${scope}: ${error.message}. See ${scope} --help.\n`);
    return 2;
  }
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return `Usage: sameriver COMMAND [OPTIONS]

Did the reconnect continue the stream that the client believes it is reading?

Commands:
${lines.join('\n')}

Each command explains itself: sameriver COMMAND --help
The version: sameriver --version
`;
}
