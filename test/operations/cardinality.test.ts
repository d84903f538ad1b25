import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, otlpCollector, runNode } from '@sameriver/testkit';
import { expect, onTestFinished, test } from 'vitest';

const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url));

/** More than the names that become labels, and none of them harmless. */
const PROFILES = Array.from({ length: 60 }, (_, each) => ({
  name: `${each}"} 1\n# TYPE evil{x="\\`,
  match: { path: `^/named/${each}/` },
  cursor: { sent: ['req-header:last-event-id'], received: ['sse:id'], codec: 'int' },
}));

function configFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sameriver-cardinality-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'sameriver.json');
  writeFileSync(file, JSON.stringify({ profiles: PROFILES }));
  return file;
}

/** Lines of a page with our series, without their values. */
function seriesOf(page: string): string[] {
  const lines = page.split('\n').filter((line) => line.startsWith('event_stream_'));
  return lines.map((line) => line.slice(0, line.lastIndexOf(' '))).sort();
}

test('10,000 streams, 1,000 URLs, hostile close codes and names leave the number of series as it was, on every path', async () => {
  const collector = await otlpCollector();
  onTestFinished(collector.close);
  const [own, prometheus] = [String(await freePort()), String(await freePort())];
  const { code, stdout, stderr } = await runNode(
    ['--import', '@sameriver/node/register', 'many-streams.mjs'],
    {
      cwd: FIXTURES,
      env: {
        ...collector.env,
        OTEL_TRACES_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
        OTEL_METRICS_EXPORTER: 'otlp,prometheus',
        OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'http,undici',
        OTEL_EXPORTER_PROMETHEUS_PORT: prometheus,
        SAMERIVER_CONFIG_FILE: configFile(),
        SAMERIVER_METRICS: 'both',
        SAMERIVER_METRICS_PORT: own,
        SCRAPE: `http://127.0.0.1:${own}/metrics http://localhost:${prometheus}/metrics`,
        URLS: '1000',
        EACH: '10',
        SOCKETS: '600',
        PROFILES: String(PROFILES.length),
      },
    },
  );
  expect({ code, said: stderr.split('\n').filter((line) => line.startsWith('sameriver')) }).toEqual(
    { code: 0, said: [] },
  );
  const { before, after } = JSON.parse(stdout) as { before: string[]; after: string[] };
  const [ours, theirs] = before.map(seriesOf);
  expect(after.map(seriesOf)).toEqual([ours, theirs]);
  expect(ours?.length).toBe(theirs?.length);
  const counted =
    /event_stream_client_received_events_total\{event_stream_protocol_name="sse"\} (\d+)/;
  expect(Number(counted.exec(after[0] ?? '')?.[1])).toBeGreaterThan(20_000);

  const pushed = new Set(
    collector.points
      .filter(({ metric }) => metric.startsWith('event_stream.'))
      .map(({ metric, attributes }) => JSON.stringify([metric, Object.entries(attributes).sort()])),
  );
  const plain = ours?.filter((line) => !/^\w+_(?:bucket|sum|count)\{/.test(line)) ?? [];
  expect(pushed.size).toBe(plain.length);

  const names = new Set(
    ours?.flatMap((line) => /protocol_name="((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? []),
  );
  expect(names).toContain('_OTHER');
  // Twenty, the name of the other transport, and all the rest in one.
  expect(names.size).toBeLessThanOrEqual(22);
}, 300_000);
