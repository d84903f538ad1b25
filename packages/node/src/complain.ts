const said = new Set<string>();

/**
 * Says one thing once, in one line on stderr. Not through `diag`: its logger is not there before an
 * SDK is, and silent by default, while a setting that has no effect looks like one that works.
 */
export function complain(problem: string): void {
  if (said.has(problem)) return;
  said.add(problem);
  process.stderr.write(`sameriver: ${problem}\n`);
}
