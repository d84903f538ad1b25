import type { Classification, JudgedReconnect, Role, Transcript } from '@sameriver/core';
import type { Colour, Terminal } from '../terminal.ts';
import { printable } from '../terminal.ts';
import { described, expectationFor } from './expectation.ts';
import { meaningOf } from './reasons.ts';
import type { Replayed } from './replay-transcript.ts';

const COLOURS: Readonly<Record<Classification, Colour>> = {
  resumed: 'green',
  reoriginated: 'red',
  unverifiable: 'yellow',
  refused: 'cyan',
};

/** One JSON line for programs. */
export function jsonLine(replayed: Replayed, { name }: Transcript): string {
  const rest =
    replayed.kind === 'skipped' ? { skipped: replayed.why } : { reconnects: replayed.reconnects };
  return `${JSON.stringify({ name, ...rest })}\n`;
}

/** The name of the transcript and one aligned line for each reconnect. */
export function textLines(
  replayed: Replayed,
  transcript: Transcript,
  side: Role,
  terminal: Terminal,
): string {
  const title = `${terminal.paint('bold', printable(transcript.name))}\n`;
  if (replayed.kind === 'skipped') return `${title}  skipped: ${printable(replayed.why)}\n`;
  if (replayed.reconnects.length === 0) return `${title}  no reconnect\n`;
  const rows = replayed.reconnects.map((verdict) => [
    ...cells(verdict),
    reasonWhy(verdict, transcript, side),
  ]);
  const widths = columnWidths(rows);
  const lines = rows.map((row, index) => {
    const padded = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    const classification = replayed.reconnects[index]?.classification ?? 'unverifiable';
    padded[1] = terminal.paint(COLOURS[classification], padded[1] ?? '');
    return `  ${padded.join('  ').trimEnd()}\n`;
  });
  return title + lines.join('');
}

function cells(verdict: JudgedReconnect): string[] {
  const stream = verdict.stream === undefined ? '' : ` ${printable(verdict.stream)}`;
  return [
    `connection ${verdict.connection}${stream}`,
    verdict.classification,
    verdict.reason,
    `missed ${verdict.missed}`,
    `duplicates ${verdict.duplicates}`,
  ];
}

function reasonWhy(verdict: JudgedReconnect, transcript: Transcript, side: Role): string {
  const expected = expectationFor(transcript.expect ?? [], verdict);
  if (side === 'server') {
    const beside = expected === undefined ? '' : ` The client's view: ${described(expected)}.`;
    return printable(meaningOf(verdict.reason, side) + beside);
  }
  const agreed = expected?.classification === verdict.classification ? expected.why : undefined;
  return printable(agreed ?? meaningOf(verdict.reason, side));
}

function columnWidths(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.slice(0, -1).entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    }
  }
  return widths;
}
