import type { Line } from './matrix.ts';
import { LINES } from './matrix.ts';

/** One library at one of its ends. */
export interface Row {
  readonly name: string;
  readonly side: keyof typeof SIDES;
  /** Where we stand to see it. */
  readonly hook: string;
  readonly library: string;
}

const SIDES = { client: 'Clients', server: 'Servers', both: 'WebSockets, both ends' } as const;

// Plain JavaScript, as the oldest Node line runs it.
const PROGRAM = String(new URL('fixtures/run.mjs', import.meta.url));
export const { ROWS } = (await import(PROGRAM)) as { readonly ROWS: readonly Row[] };

/** What a Node line cannot show: its HTTP/2 servers have channels since 22.17. */
export function isSeen(row: string, line: Line): boolean {
  return !(line === '22.15' && /http2|HTTP\/2/.test(row));
}

const INTRO = `# What is seen, and proven to be the same

Each row is a real package whose streams are read or served twice in every setting, with us and without: on Node 22.15,
22, 24 and 26, from ES modules and CommonJS, by \`--import\` and \`--require\`, beside the OpenTelemetry SDK 3.x and 2.x, all
of \`@opentelemetry/auto-instrumentations-node\`, dd-trace and Sentry. What must not differ: the bytes on the wire, every
header that was sent, the application's returns, errors and listeners, the order of its events, what a slow reader is
told, process warnings, stray rejections, and how the process ends. \`npm test\` runs every row in twelve of these settings,
\`npm run matrix\` in all of them. A stream that was not seen fails the row as well.

Two differences are known. On a request or response of \`node:http\` that carries a stream, \`for…in\` skips the inherited
methods that we stand in front of (\`push\`, \`destroy\`, \`emit\`), and a property that somebody sets there afterwards cannot be
enumerated. And trace headers, where an SDK sends them, name our span of the attempt as the parent.

Sentry is joined when it registers OpenTelemetry (\`enableOpenTelemetrySetup: true\`); where it does not, the flag starts an
SDK of its own with \`instrumentation-http\` beside Sentry's: \`SAMERIVER_SDK=off\`, or your own SDK, avoids the second.

`;

/** `docs/compatibility.md`. */
export function renderCompatibility(): string {
  const sides = Object.entries(SIDES).map(([side, title]) => {
    const rows = ROWS.filter((row) => row.side === side).map(cellsOf);
    return `## ${title}\n\n${table(['library', 'hook', ...LINES.map((line) => `Node ${line}`)], rows)}`;
  });
  return INTRO + sides.join('\n');
}

function cellsOf({ name, library, hook }: Row): string[] {
  return [
    library,
    `\`${hook}\``,
    ...LINES.map((line) => (isSeen(name, line) ? 'yes' : 'not seen')),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('');
}

/** A library's name without version, variant or what it stands on: as the front page calls it. */
export function shortName(library: string): string {
  return library
    .replace(
      /,? (?:\d+|a |over |on |with |@Sse|compat|core|fetch|request|EventSource|WebSocket).*$/,
      '',
    )
    .replace(/^global.*/, 'global');
}
