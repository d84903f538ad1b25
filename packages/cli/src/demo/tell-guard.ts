import type { Terminal } from '../terminal.ts';
import type { GuardedIncident } from './guarded.ts';
import { resumeWithGuard, TASKS } from './guarded.ts';
import { heading, lines, table } from './pages.ts';
import type { Stage } from './stage.ts';

/**
 * Plays and tells the first incident with a guard before the client.
 *
 * @returns What is not as it must be, a line each.
 */
export async function tellGuard(
  stage: Stage,
  number: number,
  terminal: Terminal,
): Promise<string[]> {
  terminal.out(heading(`${number}  The same with a guard before the client`, terminal));
  terminal.out(
    lines(
      'As in 1, and then the balancer sends the client back to A, with a cursor of B. A sends everything',
      'again. The client has one more line: its fetch is that of @sameriver/guard, which compares what',
      'comes on another stream with its ledger, by the key that each task carries.',
      '',
    ),
  );
  const incident = await resumeWithGuard(stage);
  const { bill, sent, heard } = incident;
  const row = [
    sent,
    heard.length,
    twice(heard).length,
    TASKS - new Set(heard).size,
    bill.skipped,
    bill.reconciled,
    bill.violations,
  ];
  terminal.out(
    table(
      ['tasks sent', 'run', 'run twice', 'skipped', 'held back', 'reconciled', 'without key'],
      [row.map(String)],
      terminal,
    ),
  );
  terminal.out(
    lines(
      `The bill: ${bill.reconciled} events were looked up in the ledger before they were run. Among what A sent`,
      `again were ${bill.violations} answers to requests long answered; they carry no key, and were dropped.`,
    ),
  );
  return wrongIn(incident);
}

function wrongIn({ heard, bill, sent }: GuardedIncident): string[] {
  const wrong = twice(heard).map((text) => `with a guard: "${text}" was run twice`);
  const skipped = TASKS - new Set(heard).size;
  if (skipped !== 0) wrong.push(`with a guard: ${skipped} tasks were skipped`);
  if (bill.skipped !== sent - TASKS) {
    wrong.push(`with a guard: ${bill.skipped} repeats were held back, expected ${sent - TASKS}`);
  }
  return wrong;
}

function twice(texts: readonly string[]): string[] {
  return texts.filter((text, index) => texts.indexOf(text) !== index);
}
