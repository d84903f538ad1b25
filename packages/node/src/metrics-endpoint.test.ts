import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { freePort, loopback, otlpCollector, runNode } from '@sameriver/testkit';
import { describe, expect, test } from 'vitest';

const cwd = fileURLToPath(new URL('../', import.meta.url));
const REGISTER = createRequire(import.meta.url).resolve('../dist/bundle/register.js');

type Counts = Readonly<Record<string, number>>;

function play(env: Readonly<Record<string, string>>) {
  return runNode(['--import', REGISTER, 'fixtures/scrape-paths.mjs'], { cwd, env });
}

/** An exporter that is asked early may complain of its resource. */
function ourLines(stderr: string): string[] {
  return stderr.split('\n').filter((line) => line.startsWith('sameriver:'));
}

/** Series of our counters and gauges that are not 0, without what only one of the paths adds. */
function counts(page: string): Counts {
  const found: Record<string, number> = {};
  for (const [, name = '', labels = '', value] of page.matchAll(
    /^(event_\w+)\{(.*?)\} ([\d.]+)/gm,
  )) {
    if (/_(?:bucket|sum|count)$/.test(name) || Number(value) === 0) continue;
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)]
      .map(([pair]) => pair)
      .filter((pair) => !pair.startsWith('otel_scope_'));
    found[`${name} ${pairs.sort()}`] = Number(value);
  }
  return found;
}

describe('SAMERIVER_METRICS_PORT', () => {
  test('serves the metrics of a process without an SDK, and keeps it no longer alive', async () => {
    const port = String(await freePort());
    const { code, stdout, stderr } = await play({
      SAMERIVER_SDK: 'off',
      SAMERIVER_METRICS_PORT: port,
      SCRAPE: `http://127.0.0.1:${port}/metrics http://127.0.0.1:${port}/other`,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [page = '', other] = JSON.parse(stdout) as string[];
    expect(page).toMatch(/client_reoriginations_total\{.*cursor_not_advanced.*\} 40$/m);
    expect(page.endsWith('# EOF\n')).toBe(true);
    expect(other).toBe('');
  });

  test('that is taken is one line and one error, and the application runs as it would', async () => {
    const taken = await loopback((_, response) => response.end('taken'));
    const port = String(new URL(taken.origin).port);
    const prometheus = String(await freePort());
    const { code, stdout, stderr } = await play({
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_PORT: prometheus,
      SAMERIVER_METRICS_PORT: port,
      SCRAPE: `${taken.origin}/metrics http://localhost:${prometheus}/metrics`,
    });
    await taken.close();
    expect(code).toBe(0);
    expect(ourLines(stderr)).toEqual([expect.stringMatching(/_PORT: .*EADDRINUSE/)]);
    const [theirs, otel = ''] = JSON.parse(stdout) as string[];
    expect(theirs).toBe('taken');
    expect(otel).toMatch(/client_reoriginations_total\{.*\} 40$/m);
    expect(otel).toMatch(/instrumentation_errors_total\{event_stream_reason="config".*\} 1$/m);
  });

  test.each([
    [{ SAMERIVER_METRICS: 'otel' }, /has no effect: metrics are set to go to otel alone/],
    [{ SAMERIVER_METRICS_PORT: 'http' }, /SAMERIVER_METRICS_PORT is "http": expected an integer/],
  ])('with %j says in one line why nothing is served', async (env, line) => {
    const port = String(await freePort());
    const SCRAPE = `http://127.0.0.1:${port}/metrics`;
    const wanted = { SAMERIVER_SDK: 'off', SAMERIVER_METRICS_PORT: port, SCRAPE, ...env };
    const { code, stdout, stderr } = await play(wanted);
    expect(code).toBe(0);
    expect(stderr.split('\n')).toEqual([expect.stringMatching(line), '']);
    expect(stdout).toContain('fetch failed');
  });
});

test('three paths agree to the event: OTLP, the exporter for Prometheus and our own endpoint', async () => {
  const collector = await otlpCollector();
  const [own, prometheus] = [String(await freePort()), String(await freePort())];
  const { code, stdout, stderr } = await play({
    ...collector.env,
    OTEL_METRICS_EXPORTER: 'otlp,prometheus',
    OTEL_EXPORTER_PROMETHEUS_PORT: prometheus,
    SAMERIVER_METRICS: 'both',
    SAMERIVER_METRICS_PORT: own,
    SCRAPE: `http://127.0.0.1:${own}/metrics http://localhost:${prometheus}/metrics`,
  });
  await collector.close();
  expect({ code, said: ourLines(stderr) }).toEqual({ code: 0, said: [] });
  const [ours, theirs] = (JSON.parse(stdout) as string[]).map(counts);
  const pushed: Record<string, number> = {};
  for (const { metric, value, attributes } of collector.points) {
    if (!metric.startsWith('event_stream.') || value === 0) continue;
    const gauge = /\.active$|replay_window/.test(metric);
    const pairs = Object.entries(attributes).map(([k, v]) => `${k.replaceAll('.', '_')}="${v}"`);
    pushed[`${metric.replaceAll('.', '_')}${gauge ? '' : '_total'} ${pairs.sort()}`] = value;
  }
  const name = 'event_stream_client_received_events_total event_stream_protocol_name="sse"';
  expect(ours?.[name]).toBe(200);
  expect(Object.keys(ours ?? {}).length).toBeGreaterThan(5);
  expect(theirs).toEqual(ours);
  expect(pushed).toEqual(ours);
});
