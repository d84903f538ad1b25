import type { Colour, Terminal } from '../terminal.ts';
import { printable } from '../terminal.ts';
import type { Row, Sample } from './counters.ts';
import { LEVELS } from './counters.ts';
import type { Finding } from './findings.ts';

const COLOURS: Readonly<Record<string, Colour>> = {
  resumed: 'green',
  reoriginated: 'red',
  unverifiable: 'yellow',
  refused: 'cyan',
};

export function heading(text: string, { paint }: Terminal): string {
  return `\n${paint('bold', text)}\n`;
}

export function lines(...texts: readonly string[]): string {
  return texts.map((text) => `${`  ${text}`.trimEnd()}\n`).join('');
}

/** Rows of cells under a head, aligned; a classification is coloured. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { paint }: Terminal,
): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[], colour?: Colour): string => {
    const padded = cells.map((cell, column) => {
      const text = printable(cell).padEnd(widths[column] ?? 0);
      const own = colour ?? COLOURS[cell];
      return own === undefined ? text : paint(own, text);
    });
    return `  ${padded.join('  ').trimEnd()}\n`;
  };
  return line(head, 'dim') + rows.map((row) => line(row)).join('');
}

export const FINDING_HEAD: readonly string[] = [
  'end',
  'verdict',
  'reason',
  'cursor > first',
  'missed',
  'repeated',
  'epoch',
  'load',
];

export function findingRow(found: Finding): string[] {
  const { role, classification, reason, cursors, missed, repeated, epoch, load } = found;
  return [role, classification, reason, cursors, missed, repeated, epoch, load];
}

export function levelTable(rows: readonly Row[], terminal: Terminal): string {
  const cells = rows.map(({ role, classification, reason, byLevel }) => [
    role,
    classification,
    reason,
    ...byLevel.map(String),
  ]);
  return table(['end', 'verdict', 'reason', ...LEVELS], cells, terminal);
}

/** As they stand on the page, but for the labels that name the instrumentation. */
export function sampleLines(samples: readonly Sample[]): string {
  return lines(
    ...samples.map(({ service, metric, labels, value }) => {
      const told = Object.entries(labels)
        .filter(([name]) => name !== 'event_stream_protocol_name')
        .map(([name, text]) => `${name.replace('event_stream_', '…')}="${text}"`);
      return `${service.padEnd(14)}  ${metric}{${told.join(',')}} ${value}`;
    }),
  );
}
