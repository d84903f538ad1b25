import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { NodeLine } from '@sameriver/testkit';
import { nodeBinary } from '@sameriver/testkit';
import { describe, expect, test } from 'vitest';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

type Order = 'http first' | 'sse first';

const IMPORTS = {
  'a require':
    "const { createRequire } = await import('node:module'); const http = createRequire(import.meta.url)('node:http'); const get = (...a) => http.get(...a);",
  'a default import':
    "const { default: http } = await import('node:http'); const get = (...a) => http.get(...a);",
  'a named import': "const { get } = await import('node:http');",
  'a named import of request':
    "const { request } = await import('node:http'); const get = (...a) => { const r = request(...a); r.end(); return r; };",
};

/** Two attempts in a process of their own; prints what the parent of each HTTP span is. */
function program(order: Order, imports: string): string {
  const ours = 'new SseInstrumentation({ server: false })';
  const theirs = 'new HttpInstrumentation({ disableIncomingRequestInstrumentation: true })';
  const both = order === 'http first' ? [theirs, ours] : [ours, theirs];
  return `
    import { register } from 'node:module';
    import { trace, context } from '@opentelemetry/api';
    import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
    import { registerInstrumentations } from '@opentelemetry/instrumentation';
    import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
    import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
    import { SseInstrumentation } from '@sameriver/instrumentation-sse';
    register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);
    const exporter = new InMemorySpanExporter();
    const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    trace.setGlobalTracerProvider(tracerProvider);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    registerInstrumentations({ tracerProvider, instrumentations: [${both.join(', ')}] });
    ${imports}
    const { createServer } = process.getBuiltinModule('node:http');
    const server = createServer((req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end('id: 1\\ndata: x\\n\\n');
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = 'http://127.0.0.1:' + server.address().port;
    const bodies = [];
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await new Promise((resolve, reject) => {
        get(origin, { headers: { accept: 'text/event-stream' } }, (response) => {
          response.on('data', (chunk) => bodies.push(String(chunk))).on('end', resolve);
        }).on('error', reject);
      });
    }
    server.close();
    server.closeAllConnections();
    const spans = exporter.getFinishedSpans();
    const parents = spans.filter(({ name }) => name === 'GET').map(
      ({ parentSpanContext }) => spans.find((span) => span.spanContext().spanId === parentSpanContext?.spanId)?.name ?? 'none');
    process.stdout.write(JSON.stringify({ parents, bodies: bodies.length, attempts: spans.filter(({ name }) => name === 'sse connect').length }));
  `;
}

function run(line: NodeLine, source: string): Promise<string> {
  const flags = ['--conditions=@sameriver/source', '--no-warnings', '--input-type=module'];
  const child = spawn(nodeBinary(line), [...flags, '--eval', source], {
    cwd: PACKAGE,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  return new Promise((resolve) => child.on('close', () => resolve(err === '' ? out : err)));
}

const ATTEMPT = 'sse connect';

describe.each(Object.entries(IMPORTS))('an application that has node:http by %s', (by, imports) => {
  test.each([22, 24, 26] as const)(
    'has its HTTP spans below the attempts on Node %i',
    async (line) => {
      expect(JSON.parse(await run(line, program('http first', imports)))).toEqual({
        parents: [ATTEMPT, ATTEMPT],
        bodies: 2,
        attempts: 2,
      });
    },
  );

  test('and is served as well where we were listed before the HTTP instrumentation', async () => {
    const { parents, ...rest } = JSON.parse(await run(24, program('sse first', imports)));
    expect(rest).toEqual({ bodies: 2, attempts: 2 });
    // The first attempt tells us that we stand behind; only a binding of an ES module cannot be
    // replaced any more, so there the HTTP span stays above the attempt.
    expect(parents[1]).toBe(by.startsWith('a named') ? 'none' : ATTEMPT);
  });
});
