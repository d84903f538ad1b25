import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JaegerServer } from '@sameriver/testkit';
import { goProgram, jaegerServer, runNode, startCollector, startGateway } from '@sameriver/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JaegerSpan, JaegerTrace } from './jaeger-api.ts';
import { searchTraces, servicesOf, tagsOf, traceById } from './jaeger-api.ts';
import type { LinkPattern } from './link-patterns.ts';
import { linkOf } from './link-patterns.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLI = join(ROOT, 'packages/cli');
const RECIPES = join(ROOT, 'docs/recipes');
const { linkPatterns } = JSON.parse(readFileSync(join(RECIPES, 'jaeger/ui.json'), 'utf8')) as {
  readonly linkPatterns: readonly LinkPattern[];
};

const { binary = '', absent, ...rest } = goProgram('jaeger');
const goIsHere = 'go' in rest && rest.go === true;

async function playDemo(endpoint: string): Promise<void> {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
  const { code, stderr } = await runNode(['bin/sameriver.js', 'demo'], { cwd: CLI, env });
  expect(stderr).toBe('');
  expect(code).toBe(0);
}

function spanOf(trace: JaegerTrace, service: string, name: string): JaegerSpan {
  const span = trace.find((each) => each.service === service && each.name === name);
  if (span === undefined) throw new Error(`no "${name}" of ${service} in the trace`);
  return span;
}

test('where there is a Go, these tests are not left out of a CI run', ({ skip }) => {
  if (absent !== undefined && !(goIsHere && process.env['CI_TEST_REPORT'])) skip(absent);
  expect(absent).toBeUndefined();
});

describe.skipIf(absent !== undefined)(
  `the demo in a real Jaeger${absent ? ` (${absent})` : ''}`,
  () => {
    let jaeger: JaegerServer;

    beforeAll(async () => {
      jaeger = await jaegerServer(binary);
      await playDemo(jaeger.otlp);
    }, 120_000);

    afterAll(() => jaeger.close());

    const find = (service: string, search: string): Promise<readonly JaegerTrace[]> =>
      searchTraces(jaeger.query, service, search);

    test('the search for re-originated reconnects finds client and server in one trace', async () => {
      const traces = await find('mcp-client-1', 'event_stream.classification=reoriginated');
      expect(traces).toHaveLength(1);
      const client = spanOf(traces[0]!, 'mcp-client-1', 'sse connect');
      const server = spanOf(traces[0]!, 'mcp-server-b', 'sse accept');
      for (const { tags } of [client, server]) {
        expect(tags).toMatchObject({
          'event_stream.classification': 'reoriginated',
          'event_stream.reason': 'cursor_not_advanced',
          'event_stream.cursor.requested': '4118',
          'event_stream.cursor.first': '13',
        });
      }
    });

    test('its link leads to the connection before, which the other instance served', async () => {
      const [trace] = await find('mcp-client-1', 'event_stream.classification=reoriginated');
      const { references, tags } = spanOf(trace!, 'mcp-client-1', 'sse connect');
      const link = references.find(({ refType }) => refType === 'FOLLOWS_FROM');
      expect(link?.traceID).toBe(tags['event_stream.previous.trace_id']);
      const previous = await traceById(jaeger.query, link!.traceID);
      const connect = spanOf(previous!, 'mcp-client-1', 'sse connect');
      expect(connect.spanId).toBe(link!.spanID);
      expect(connect.tags['event_stream.connection.ordinal']).toBe(0);
      expect(spanOf(previous!, 'mcp-server-a', 'sse accept').tags['event_stream.role']).toBe(
        'server',
      );
    });

    test('the link pattern of the recipe leads there by one click', async () => {
      const [trace] = await find('mcp-client-1', 'event_stream.classification=reoriginated');
      const { tags } = spanOf(trace!, 'mcp-client-1', 'sse connect');
      const [link] = linkPatterns.flatMap((pattern) => linkOf(pattern, tags) ?? []);
      const [, traceId] = /^\/trace\/([0-9a-f]{32})$/.exec(link ?? '') ?? [];
      expect(await traceById(jaeger.query, traceId!)).toBeDefined();
    });

    test('the search by the trace id of a connection finds the one after it', async () => {
      const [trace] = await find('mcp-client-1', 'event_stream.classification=reoriginated');
      const [{ tags, traceId }] = [spanOf(trace!, 'mcp-client-1', 'sse connect')];
      const before = String(tags['event_stream.previous.trace_id']);
      const [after] = await find('mcp-client-1', `event_stream.previous.trace_id=${before}`);
      expect(after![0]!.traceId).toBe(traceId);
    });

    test('a loss that only the server sees is in the trace of the reconnect that its client calls unverifiable', async () => {
      const search = 'event_stream.reason=window_exceeded event_stream.load.level=high';
      const [trace, ...others] = await find('mcp-server-a', search);
      expect(others).toEqual([]);
      expect(spanOf(trace!, 'mcp-server-a', 'sse accept').tags['event_stream.missed']).toBe(300);
      const client = spanOf(trace!, 'mcp-client-2', 'sse connect');
      expect(client.tags['event_stream.classification']).toBe('unverifiable');
    });

    test('reconnect upon reconnect is one trace each, linked backwards to the first', async () => {
      const traces = await find('mcp-client-2', 'event_stream.connection.ordinal=3');
      let at: JaegerTrace | undefined = traces[0];
      for (const ordinal of [3, 2, 1, 0]) {
        const { tags } = spanOf(at!, 'mcp-client-2', 'sse connect');
        expect(tags['event_stream.connection.ordinal']).toBe(ordinal);
        const previous = tags['event_stream.previous.trace_id'];
        expect(previous === undefined).toBe(ordinal === 0);
        at = previous === undefined ? undefined : await traceById(jaeger.query, String(previous));
      }
    });

    test('every search of docs/jaeger.md is one that Jaeger understands, and most find something', async () => {
      const services = await servicesOf(jaeger.query);
      const found: string[] = [];
      for (const search of searchesOfTheDocs()) {
        const hits = await Promise.all(services.map((service) => find(service, search)));
        if (hits.some((traces) => traces.length > 0)) found.push(search);
      }
      expect(found).toEqual(
        expect.arrayContaining([
          'event_stream.classification=reoriginated',
          'event_stream.classification=reoriginated event_stream.load.level=high',
          'event_stream.reason=window_exceeded',
          'event_stream.classification=unverifiable',
          'event_stream.cursor.requested=4118',
          'event_stream.disconnect.reason=reset',
          'event_stream.classification=refused',
          'event_stream.migration.outcome=lossy',
        ]),
      );
    });

    test('the gateway of the recipe keeps every re-originated and unverifiable reconnect, with both ends', async () => {
      const metrics = await playThroughGateway(jaeger);
      const count = async (service: string, search: string) => (await find(service, search)).length;
      // Twice the demo is here by now: once straight, once through the gateway that drops the rest.
      expect(await count('mcp-client-2', 'event_stream.classification=unverifiable')).toBe(6);
      expect(await count('mcp-server-a', 'event_stream.reason=window_exceeded')).toBe(2);
      // What says nothing is here once only: a notification that a client sent.
      expect(await count('mcp-client-2', 'http.response.status_code=202')).toBe(1);
      expect(metrics).toMatch(/streams_calls_total\{.*classification="reoriginated"/);
      expect(metrics).not.toMatch(/duration_seconds_bucket\{.*span_name="sse /);
      expect(metrics).toMatch(/duration_seconds_bucket\{.*span_name="POST"/);
    }, 120_000);

    async function playThroughGateway(behind: JaegerServer): Promise<string> {
      const gateway = await startGateway(binary, behind);
      try {
        await playDemo(gateway.otlp);
        await expect
          .poll(
            async () => (await find('mcp-client-2', 'event_stream.connection.ordinal=3')).length,
            { timeout: 60_000, interval: 250 },
          )
          .toBe(2);
        const page = await fetch(`http://${gateway.metrics}/metrics`);
        return await page.text();
      } finally {
        await gateway.close();
      }
    }

    test('Jaeger serves the link pattern to its pages, and does not start with a broken one', async () => {
      const page = await fetch(jaeger.query).then((response) => response.text());
      expect(page).toContain('"key":"event_stream.previous.trace_id"');
      const folder = mkdtempSync(join(tmpdir(), 'jaeger-ui-'));
      const broken = join(folder, 'ui.json');
      writeFileSync(broken, '{ "linkPatterns": [ }');
      const config = join(RECIPES, 'jaeger/config.yaml');
      await expect(startCollector(binary, config, { JAEGER_UI_CONFIG: broken })).rejects.toThrow(
        /Could not create static assets handler/,
      );
      rmSync(folder, { recursive: true });
    });

    test('the collector accepts the configuration of the gateway', () => {
      const config = join(RECIPES, 'collector/gateway.yaml');
      execFileSync(binary, ['validate', '--config', config], { stdio: 'pipe' });
    });
  },
);

function searchesOfTheDocs(): readonly string[] {
  const page = readFileSync(join(ROOT, 'docs/jaeger.md'), 'utf8');
  const cells = [...page.matchAll(/^\| `(event_stream\.[^`]+)` +\|/gm)];
  return cells.map(([, search = '']) => search).filter((search) => !search.includes('…'));
}

test('the searches of docs/jaeger.md use names and values of the registry', async () => {
  const registry = readFileSync(join(ROOT, 'docs/telemetry.md'), 'utf8');
  const searches = searchesOfTheDocs();
  expect(searches.length).toBeGreaterThan(8);
  for (const search of searches) {
    for (const [name, value] of Object.entries(tagsOf(search))) {
      expect(registry).toContain(`\`${name}\``);
      if (!/^(?:\d+|true|false)$/.test(value)) expect(registry).toContain(`\`${value}\``);
    }
  }
});
