import type { Player } from './cast.ts';

/** One line of a Prometheus exporter, without what every line has in common. */
export interface Sample {
  readonly service: string;
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export const LEVELS = ['low', 'elevated', 'high'] as const;

/** The counters that alerts are written on. */
const ALERTED =
  /^event_stream_(?:client|server)_(?:reconnects|reoriginations|missed_events)_total$/;

/**
 * Scrapes `/metrics` of each process, as Prometheus would.
 *
 * @param wanted Which metrics to read.
 */
export async function scrape(
  players: readonly Player[],
  wanted: RegExp = ALERTED,
): Promise<readonly Sample[]> {
  const pages = await Promise.all(
    players.map(async ({ service, metrics }) => {
      const response = await fetch(metrics);
      return samplesOf(service, await response.text(), wanted);
    }),
  );
  return pages.flat();
}

function samplesOf(service: string, page: string, wanted: RegExp): Sample[] {
  return page.split('\n').flatMap((line) => {
    const [, metric = '', labels = '', value] = /^(\w+)\{(.*)\} (\S+)/.exec(line) ?? [];
    if (!wanted.test(metric) || value === undefined) return [];
    return [{ service, metric, labels: labelsOf(labels), value: Number(value) }];
  });
}

function labelsOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return Object.fromEntries(
    pairs
      .map(([, name = '', value = '']) => [name, value] as const)
      .filter(([name]) => !name.startsWith('otel_scope_')),
  );
}

/** A row of the table of reconnects: one kind of verdict at one end, split by load. */
export interface Row {
  readonly role: string;
  readonly classification: string;
  readonly reason: string;
  readonly byLevel: readonly number[];
}

/** Reconnects of all processes by verdict and load level, those that happened. */
export function reconnectsByLevel(samples: readonly Sample[]): Row[] {
  const rows = new Map<string, Row & { readonly byLevel: number[] }>();
  for (const { metric, labels, value } of samples) {
    const role = /^event_stream_(client|server)_reconnects_total$/.exec(metric)?.[1];
    if (role === undefined || value === 0) continue;
    const classification = labels['event_stream_classification'] ?? '';
    const reason = labels['event_stream_reason'] ?? '';
    const key = [role, classification, reason].join(' ');
    const row = rows.get(key) ?? { role, classification, reason, byLevel: LEVELS.map(() => 0) };
    const level = (LEVELS as readonly string[]).indexOf(labels['event_stream_load_level'] ?? '');
    row.byLevel[level] = (row.byLevel[level] ?? 0) + value;
    rows.set(key, row);
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
