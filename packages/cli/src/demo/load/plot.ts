import type { Terminal } from '../../terminal.ts';
import type { Stretch } from './curve.ts';
import { ratio } from './curve.ts';

const WIDTH = 50;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** One bar for each stretch of load; the axis reaches from 0 to 100 percent. */
export function plot(stretches: readonly Stretch[], { paint }: Terminal): string {
  const wide = Math.max(...stretches.map(({ name }) => name.length));
  const rows = stretches.map((stretch) => {
    const { name, reconnects, reoriginated } = stretch;
    const share = ratio(stretch) ?? 0;
    const counts = `${percent(share)}  ${reoriginated} of ${reconnects}`;
    return `  ${name.padEnd(wide)} ┤${paint('red', bar(share))}  ${counts}\n`;
  });
  const axis = `${'└'.padStart(wide + 4)}${'─'.repeat(WIDTH)}\n`;
  const ends = `${' '.repeat(wide + 3)} 0 %${'100 %'.padStart(WIDTH - 4)}\n`;
  return rows.join('') + paint('dim', axis + ends);
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function bar(share: number): string {
  const eighths = Math.round(share * WIDTH * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}
