import { fileURLToPath } from 'node:url';
import type { NodeRun, NodeRunOptions, OtlpCollector } from '@sameriver/testkit';
import { loopback, nodeBinary, nodeFloorBinary, otlpCollector, runNode } from '@sameriver/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));
const REGISTER = '@sameriver/node/register';
const REGISTERED = fileURLToPath(new URL('../dist/register.js', import.meta.url));
/** A directory from which a client of Redis can be loaded. */
const WITH_REDIS = fileURLToPath(new URL('../../guard/', import.meta.url));
const READ = 'dropped\nread\n';
/** The close codes of both WebSockets, and the profile that says where their numbers stand. */
const MOVED_ON = '1006\n1000\n';
const TASKS = { SAMERIVER_CONFIG_FILE: 'ws-tasks.json' };

let collector: OtlpCollector;

beforeEach(async () => {
  collector = await otlpCollector();
});

afterEach(() => collector.close());

function run(args: readonly string[], env: Record<string, string> = {}): Promise<NodeRun> {
  return runNode(args, { cwd: FIXTURES, env: { ...collector.env, ...env } });
}

function named(name: string) {
  return collector.spans.filter((span) => span.name === name);
}

/** The verdict that the application of the fixtures deserves, at both of its ends. */
const FORGOTTEN = {
  'event_stream.classification': 'reoriginated',
  'event_stream.reason': 'cursor_not_advanced',
};

function judged(name: string) {
  return named(name).filter((span) => span.attributes['event_stream.classification'] !== undefined);
}

function expectOneVerdictAtEachEnd(transport: 'sse' | 'websocket' = 'sse'): void {
  for (const name of [`${transport} connect`, `${transport} accept`]) {
    expect(named(name)).toHaveLength(2);
    expect(judged(name).map(({ attributes }) => attributes)).toMatchObject([FORGOTTEN]);
  }
  for (const role of ['client', 'server']) {
    const counted = collector.points.filter(
      ({ metric, value }) => metric === `event_stream.${role}.reconnects` && value > 0,
    );
    expect(counted).toMatchObject([{ value: 1, attributes: FORGOTTEN }]);
  }
}

function services(): unknown[] {
  return [...new Set(collector.spans.map(({ resource }) => resource['service.name']))];
}

const BINARIES: Array<readonly [string, string]> = ([22, 24, 26] as const).map((line) => [
  String(line),
  nodeBinary(line),
]);
const floor = nodeFloorBinary();
if (floor !== undefined) BINARIES.unshift(['22.15', floor]);

describe('one flag judges the streams of an application that knows nothing of it', () => {
  for (const [line, binary] of BINARIES) {
    for (const flag of ['--import', '--require']) {
      for (const app of ['app.mjs', 'app.cjs']) {
        for (const client of ['fetch', 'http']) {
          test(`Node ${line}, ${flag}, ${app}, read by ${client}`, async () => {
            const result = await runNode([flag, REGISTER, app], {
              cwd: FIXTURES,
              env: { ...collector.env, APP_CLIENT: client },
              binary,
            });
            expect(result).toEqual({ code: 0, signal: null, stdout: READ, stderr: '' });
            expectOneVerdictAtEachEnd();
          });
        }
      }
    }
  }
});

describe('so does it judge the WebSockets of ws and of the runtime, with no hook of the module loader', () => {
  for (const [line, binary] of BINARIES) {
    for (const flag of ['--import', '--require']) {
      for (const app of ['app-ws.mjs', 'app-ws.cjs']) {
        for (const client of ['ws', 'global']) {
          test(`Node ${line}, ${flag}, ${app}, opened by ${client}`, async () => {
            const result = await runNode([flag, REGISTER, app], {
              cwd: FIXTURES,
              env: { ...collector.env, ...TASKS, APP_CLIENT: client },
              binary,
            });
            expect(result).toEqual({ code: 0, signal: null, stdout: MOVED_ON, stderr: '' });
            expectOneVerdictAtEachEnd('websocket');
          });
        }
      }
    }
  }

  test.each([
    ['in the application', ['--import', REGISTER, 'app-ws-with-sdk.mjs']],
    ['imported before', ['--import', './sdk.mjs', '--import', REGISTER, 'app-ws.mjs']],
    ['imported after', ['--import', REGISTER, '--import', './sdk.mjs', 'app-ws.mjs']],
    ['required before', ['--require', './sdk.cjs', '--require', REGISTER, 'app-ws.cjs']],
    ['required after', ['--require', REGISTER, '--require', './sdk.cjs', 'app-ws.cjs']],
    ['of the 2.x line', ['--require', './sdk-2.cjs', '--import', REGISTER, 'app-ws.cjs']],
  ])('and an SDK of the application gets them: %s', async (_, args) => {
    const result = await run(args, TASKS);
    expect(result).toEqual({ code: 0, signal: null, stdout: MOVED_ON, stderr: '' });
    expectOneVerdictAtEachEnd('websocket');
    expect(services()).toEqual(['application']);
  });

  test('ws may also be imported when the instrumentation runs already', async () => {
    const env = { ...TASKS, SAMERIVER_SDK: 'on' };
    const result = await run(['--import', REGISTER, 'app-ws-late.mjs'], env);
    expect(result).toEqual({ code: 0, signal: null, stdout: MOVED_ON, stderr: '' });
    expectOneVerdictAtEachEnd('websocket');
  });

  test('both ends stand in one trace, the span of the handshake below the attempt', async () => {
    await run(['--import', REGISTER, 'app-ws.mjs'], TASKS);
    const [connect] = judged('websocket connect');
    const [accept] = judged('websocket accept');
    expect(accept?.traceId).toBe(connect?.traceId);
    const handshakes = named('GET').filter(({ parentSpanId }) => parentSpanId === connect?.spanId);
    expect(handshakes).toMatchObject([{ kind: 3 }]);
    expect(named('stream connect')).toHaveLength(1);
  });

  test('OTEL_NODE_DISABLED_INSTRUMENTATIONS=websocket leaves them alone', async () => {
    const env = { ...TASKS, OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'websocket' };
    const { stdout } = await run(['--import', REGISTER, 'app-ws.mjs'], env);
    expect(stdout).toBe(MOVED_ON);
    expect(named('websocket connect')).toEqual([]);
  });
});

describe('an SDK of our own', () => {
  test.each(['fetch', 'http'])(
    'puts both ends of a connection by %s into one trace',
    async (by) => {
      await run(['--import', REGISTER, 'app.mjs'], { APP_CLIENT: by });
      const [connect] = judged('sse connect');
      const [accept] = judged('sse accept');
      expect(accept?.traceId).toBe(connect?.traceId);
      const request = collector.spans.find(({ parentSpanId }) => parentSpanId === connect?.spanId);
      expect(request).toMatchObject({ name: 'GET', kind: 3, attributes: FORGOTTEN });
    },
  );

  test('sees the first connection of a process in full', async () => {
    await run(['--import', REGISTER, 'app.mjs']);
    expect(named('stream connect')).toHaveLength(1);
    expect(named('GET')).toHaveLength(4);
  });

  test('reports logs, and takes its name from the standard variable', async () => {
    await run(['--import', REGISTER, 'app.mjs'], { OTEL_SERVICE_NAME: 'feed' });
    expect(collector.events).toContain('event_stream.reconnect');
    expect(services()).toEqual(['feed']);
  });

  test('serves /metrics when Prometheus is asked for', async () => {
    const port = await freePort();
    const { stdout } = await run(['--import', REGISTER, 'scrape.mjs'], {
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
    });
    expect(stdout).toMatch(/^event_stream_client_reconnects_total\{.*cursor_not_advanced.*\} 1$/m);
    expect(stdout).toMatch(/^event_stream_client_reconnects_total\{.*cursor_echoed.*\} 0$/m);
  });

  test.each(['fetch', 'http'])(
    'counts each stream once beside another copy of the instrumentation, read by %s',
    async (APP_CLIENT) => {
      await run(['--import', REGISTER, 'app-with-own-sse.mjs'], { APP_CLIENT });
      expectOneVerdictAtEachEnd();
    },
  );

  test('leaves out what OTEL_NODE_DISABLED_INSTRUMENTATIONS lists', async () => {
    await run(['--import', REGISTER, 'app.mjs'], {
      OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'undici, sse',
    });
    expect(collector.spans.map(({ name, kind }) => ({ name, kind }))).toEqual([
      { name: 'GET', kind: 2 },
      { name: 'GET', kind: 2 },
    ]);
  });

  test('is there at once under SAMERIVER_SDK=on, for spans and metrics made by hand', async () => {
    await run(['--import', REGISTER, 'by-hand.mjs'], { SAMERIVER_SDK: 'on' });
    expect(named('by hand')).toHaveLength(1);
    const counted = collector.points.filter(({ metric }) => metric === 'by.hand');
    expect(counted).toMatchObject([{ value: 1 }]);
  });

  test('is not started for a process that neither serves nor reads a stream', async () => {
    const { code } = await run(['--import', REGISTER, 'by-hand.mjs']);
    expect(code).toBe(0);
    expect(collector.spans).toEqual([]);
  });
});

describe('an SDK that the application starts itself gets everything, once', () => {
  test.each([
    ['ES modules, in the application', ['--import', REGISTER, 'app-with-sdk.mjs']],
    ['CommonJS, in the application', ['--import', REGISTER, 'app-with-sdk.cjs']],
    ['CommonJS, in the application, required', ['--require', REGISTER, 'app-with-sdk.cjs']],
    ['ES modules, imported before', ['--import', './sdk.mjs', '--import', REGISTER, 'app.mjs']],
    ['ES modules, imported after', ['--import', REGISTER, '--import', './sdk.mjs', 'app.mjs']],
    ['CommonJS, required before', ['--require', './sdk.cjs', '--require', REGISTER, 'app.cjs']],
    ['CommonJS, required after', ['--require', REGISTER, '--require', './sdk.cjs', 'app.cjs']],
    ['the 2.x line, in the application', ['--import', REGISTER, 'app-with-sdk-2.cjs']],
    ['the 2.x line, before', ['--require', './sdk-2.cjs', '--import', REGISTER, 'app.cjs']],
    ['made by hand with getInstrumentations', ['hand-made.mjs']],
    ['made by hand, and the flag as well', ['--import', REGISTER, 'hand-made.mjs']],
  ])('%s', async (_, args) => {
    const result = await run(args);
    expect(result).toEqual({ code: 0, signal: null, stdout: READ, stderr: '' });
    expectOneVerdictAtEachEnd();
    expect(services()).toEqual(['application']);
    // Two connections: a span of ours and at most one of HTTP for each.
    expect(collector.spans.filter(({ kind }) => kind === 3).length).toBeLessThanOrEqual(4);
  });

  test('CommonJS: its own HTTP instrumentation still reaches http', async () => {
    await run(['--import', REGISTER, 'app-with-sdk.cjs']);
    expect(collector.spans.filter(({ kind }) => kind === 2)).toHaveLength(2);
    expect(named('GET').filter(({ kind }) => kind === 3)).toHaveLength(2);
  });

  test('also when it asks somebody for a secret first', async () => {
    const vault = await loopback((_request, response) => response.end('secret'));
    const env = { APP_VAULT: vault.origin };
    const result = await run(['--import', REGISTER, 'app-with-late-sdk.mjs'], env);
    await vault.close();
    expect(result).toEqual({ code: 0, signal: null, stdout: READ, stderr: '' });
    expectOneVerdictAtEachEnd();
    expect(services()).toEqual(['application']);
  });

  test('and what getInstrumentations is given comes before the environment', async () => {
    await run(['--import', REGISTER, 'hand-made.mjs'], { SAMERIVER_CAPTURE_CURSOR: 'raw' });
    expect(judged('sse connect')[0]?.attributes).not.toHaveProperty(
      'event_stream.cursor.requested',
    );
  });

  test('M1: a stream that moves from SSE to a WebSocket is one stream for both instrumentations', async () => {
    const result = await run(['app-that-moves.mjs']);
    expect(result).toEqual({ code: 0, signal: null, stdout: 'moved\n', stderr: '' });
    const [connect] = named('websocket connect');
    expect(connect?.attributes).toMatchObject({
      'event_stream.reason': 'window_exceeded',
      'event_stream.missed': 2,
    });
    expect(named('stream migrate')).toHaveLength(2);
    const migrations = collector.points.filter(
      ({ metric, value }) => metric === 'event_stream.migrations' && value > 0,
    );
    expect(
      migrations.map(({ attributes }) => attributes['event_stream.migration.outcome']),
    ).toContain('lossy');
  });

  test('or is told in one line that it uses an older copy of the API', async () => {
    const args = ['--import', './older-api.mjs', '--import', REGISTER, 'app.mjs'];
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 0, stdout: READ });
    expect(stderr).toMatch(/^sameriver: nothing will be recorded: .*api 1\.9\.1.*\n$/);
  });

  test('SAMERIVER_SDK=off starts none even where the application has none', async () => {
    const result = await run(['--import', REGISTER, 'app.mjs'], { SAMERIVER_SDK: 'off' });
    expect(result).toEqual({ code: 0, signal: null, stdout: READ, stderr: '' });
    expect(collector.spans).toEqual([]);
  });
});

describe('the end of a process stays what it is', () => {
  test('a signal ends it as a signal, after what was buffered has been sent', async () => {
    const result = await runNode(['--import', REGISTER, 'serve.mjs'], {
      cwd: FIXTURES,
      env: collector.env,
      signal: 'SIGTERM',
    });
    expect(result).toMatchObject({ code: null, signal: 'SIGTERM', stderr: '' });
    expect(named('sse connect')).toHaveLength(1);
  });

  test('a verdict that is held for a shared index is told before it', async () => {
    const silent = await loopback(() => {});
    const result = await runNode(['--import', REGISTERED, `${FIXTURES}foreign-cursor.mjs`], {
      cwd: WITH_REDIS,
      env: { ...collector.env, SAMERIVER_ORIGIN_REDIS: silent.origin.replace('http', 'redis') },
    });
    await silent.close();
    expect(result).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
    expect(judged('sse accept').map(({ attributes }) => attributes)).toMatchObject([FORGOTTEN]);
  });

  test.each([
    ['an application that exits on the signal', 'exit', { code: 5, signal: null }],
    ['a library that counts listeners', 'count', { code: null, signal: 'SIGTERM' }],
  ])('%s decides alone', async (_, way, end) => {
    const result = await runNode(['--import', REGISTER, 'serve.mjs'], {
      cwd: FIXTURES,
      env: { ...collector.env, APP_SIGTERM: way },
      signal: 'SIGTERM',
    });
    expect(result).toMatchObject({ ...end, stderr: '' });
  });

  // Its own patience would outlast this test.
  const SILENT = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', SAMERIVER_EXIT_TIMEOUT: '300' };

  /** Runs while a collector takes everything and answers nothing. */
  async function besideSilence(
    args: readonly string[],
    options: Partial<NodeRunOptions> = {},
  ): Promise<NodeRun> {
    const silent = await loopback(() => {});
    const to = { OTEL_EXPORTER_OTLP_ENDPOINT: silent.origin };
    const env = { ...collector.env, ...SILENT, ...to, ...options.env };
    const result = await runNode(args, { cwd: FIXTURES, ...options, env });
    await silent.close();
    return result;
  }

  test('a collector that never answers holds up neither its end nor its exit code', async () => {
    const args = ['--import', REGISTER, '--import', './exit-code.mjs', 'app.mjs'];
    expect(await besideSilence(args)).toMatchObject({ code: 3, signal: null, stdout: READ });
  });

  test('nor does it hold up a signal', async () => {
    const result = await besideSilence(['--import', REGISTER, 'serve.mjs'], { signal: 'SIGTERM' });
    expect(result).toMatchObject({ code: null, signal: 'SIGTERM' });
  });

  test('process.exit() is not held up at all, and keeps its code', async () => {
    const result = await besideSilence(['--import', REGISTER, 'serve.mjs'], {
      signal: 'SIGTERM',
      env: { APP_SIGTERM: 'exit', SAMERIVER_EXIT_TIMEOUT: '60000' },
    });
    expect(result).toEqual({ code: 5, signal: null, stdout: 'ready\n', stderr: '' });
  });

  test.each([400, 401, 429, 500, 503])(
    'a collector that answers %i changes nothing that the application does',
    async (status) => {
      const refusing = await loopback((request, response) => {
        request.resume();
        response.writeHead(status).end();
      });
      const env = {
        ...collector.env,
        ...SILENT,
        OTEL_EXPORTER_OTLP_ENDPOINT: refusing.origin,
        OTEL_LOG_LEVEL: 'none',
      };
      const result = await runNode(['--import', REGISTER, 'app.mjs'], { cwd: FIXTURES, env });
      await refusing.close();
      expect(result).toEqual({ code: 0, signal: null, stdout: READ, stderr: '' });
    },
  );

  test('nor does one that is not there', async () => {
    const env = {
      ...collector.env,
      ...SILENT,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
      OTEL_LOG_LEVEL: 'none',
    };
    const result = await runNode(['--import', REGISTER, 'app.mjs'], { cwd: FIXTURES, env });
    expect(result).toEqual({ code: 0, signal: null, stdout: READ, stderr: '' });
  });

  test('the exit code of the application is kept', async () => {
    const { code } = await run(['--import', REGISTER, '--import', './exit-code.mjs', 'app.mjs']);
    expect(code).toBe(3);
    expectOneVerdictAtEachEnd();
  });
});

describe('switched off, the process is left alone', () => {
  test.each([
    ['SAMERIVER_DISABLED', 'on'],
    ['OTEL_SDK_DISABLED', 'true'],
  ])('%s=%s', async (name, value) => {
    const result = await run(['--import', REGISTER, 'app-with-sdk.mjs'], { [name]: value });
    expect(result).toEqual({ code: 0, signal: null, stdout: READ, stderr: '' });
    expect(named('sse connect')).toEqual([]);
  });
});

describe('a setting that cannot be used', () => {
  test('is named in one line, and the application runs with the default', async () => {
    const result = await run(['--import', REGISTER, 'app.mjs'], {
      SAMERIVER_EVENTS: 'logs',
      SAMERIVER_DISABLED: 'maybe',
      SAMERIVER_CAPTURE_CURSER: 'off',
      SAMERIVER_CONFIG_FILE: 'bad-config.json',
    });
    expect(result).toMatchObject({ code: 0, stdout: READ });
    const lines = result.stderr.trimEnd().split('\n');
    expect(lines).toEqual([
      'sameriver: SAMERIVER_DISABLED is "maybe": expected on or off (in a file true or false)',
      'sameriver: SAMERIVER_EVENTS is "logs": expected one of log, span, both, off',
      'sameriver: SAMERIVER_CAPTURE_CURSER is not an option; did you mean SAMERIVER_CAPTURE_CURSOR?',
      expect.stringMatching(/bad-config\.json: captur is not an option; did you mean capture\?$/),
      expect.stringMatching(
        /bad-config\.json: profiles\/0\/cursr: unknown key: .*; it is left out$/,
      ),
    ]);
    expectOneVerdictAtEachEnd();
  });

  test('is named by its variable where its value is found wanting later', async () => {
    const { stderr } = await run(['--import', REGISTER, 'app.mjs'], {
      SAMERIVER_IDENTITY: 'jsn:/key',
    });
    expect(stderr).toMatch(/^sameriver: SAMERIVER_IDENTITY: .*"jsn:\/key" is no place: .*\n$/);
  });
});

test('OTEL_LOG_LEVEL=debug says once what is hooked and what cannot be seen', async () => {
  const { stdout } = await run(['--import', REGISTER, 'app.mjs'], { OTEL_LOG_LEVEL: 'debug' });
  expect(stdout.match(/@sameriver\/node SDK: our own/g)).toHaveLength(1);
  expect(stdout.match(/@sameriver\/instrumentation-sse client: .*not seen: /g)).toHaveLength(1);
});

describe('what a process loads', () => {
  const loadedBy = async (app: string, env: Record<string, string> = {}): Promise<unknown> => {
    const preloads = ['--import', './record-modules.mjs', '--import', REGISTER];
    const { stdout } = await run([...preloads, app], env);
    return JSON.parse(stdout.replace(READ, ''));
  };

  test('is nothing of OpenTelemetry while it only waits', async () => {
    expect(await loadedBy('idle.mjs')).toEqual([]);
  });

  test('is no more than the API and the base of instrumentations without an SDK', async () => {
    expect(await loadedBy('app.mjs', { SAMERIVER_SDK: 'off' })).toEqual(
      expect.arrayContaining(['@opentelemetry/api', '@opentelemetry/instrumentation']),
    );
    expect(await loadedBy('app.mjs', { SAMERIVER_SDK: 'off' })).toHaveLength(2);
  });
});

async function freePort(): Promise<number> {
  const { origin, close } = await loopback(() => {});
  await close();
  return Number(new URL(origin).port);
}
