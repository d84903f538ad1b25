/**
 * Runs one command.
 *
 * @param args Command line after the program name.
 * @returns The exit status: 0 done, 2 the command line or a file was bad.
 */
export async function main(args: readonly string[]): Promise<number> {
  console.error(`sameriver: no command ${JSON.stringify(args[0] ?? '')}.`);
  return 2;
}
