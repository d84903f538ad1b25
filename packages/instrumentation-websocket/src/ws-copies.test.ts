import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { NodeLine } from '@sameriver/testkit';
import { nodeBinary } from '@sameriver/testkit';
import { describe, expect, test } from 'vitest';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const LINES: readonly NodeLine[] = [22, 24, 26];

/** How an application registers module hooks; one in CommonJS needs none. */
const HOOKS = {
  'without a loader hook': '',
  'with the asynchronous loader hook':
    "(await import('node:module')).register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);",
  'with synchronous hooks':
    "const hooks = await import('import-in-the-middle/register-hooks.mjs'); if (hooks.supportsSyncHooks()) hooks.register(); else (await import('node:module')).register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);",
};

const REQUIRE = 'const load = (name) => Promise.resolve(createRequire(import.meta.url)(name));';
const IMPORT = 'const load = (name) => import(name);';

/** Starts the instrumentation, then lets the application run; prints what was followed. */
function program(hooks: string, load: string, application: string): string {
  return `
    import { createRequire } from 'node:module';
    ${hooks}
    const { WebSocketInstrumentation } = await import('@sameriver/instrumentation-websocket');
    const told = [];
    let heard = () => {};
    const instrumentation = new WebSocketInstrumentation({
      reportHook: (report, { role, events }) => { told.push(role + ' ' + events); heard(); },
    });
    const untilTold = async (count) => {
      while (told.length < count) await new Promise((resolve) => { heard = resolve; });
    };
    ${load}
    ${application}
    process.stdout.write(JSON.stringify(told.sort()));
    process.exit();
  `;
}

/** A server and a client of one copy, each of whose close events has been seen. */
const exchange = (server: string, client: string): string => `
  const serverOf = await load('${server}');
  const clientOf = await load('${client}');
  const WebSocketServer = serverOf.WebSocketServer ?? serverOf.default?.Server ?? serverOf.Server;
  const WebSocket = clientOf.WebSocket ?? clientOf.default ?? clientOf;
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => wss.on('listening', resolve));
  wss.on('connection', (socket) => { socket.send('one'); socket.close(1000); });
  const socket = new WebSocket('ws://127.0.0.1:' + wss.address().port);
  await new Promise((resolve) => socket.on('close', resolve));
  await untilTold(2);
`;

const socketIo = `
  const { Server } = await load('socket.io');
  const { io } = await load('socket.io-client');
  const http = (await import('node:http')).createServer();
  const server = new Server(http);
  server.on('connection', (socket) => socket.emit('news', 'one'));
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  const client = io('http://127.0.0.1:' + http.address().port, { transports: ['websocket'] });
  await new Promise((resolve) => client.on('news', resolve));
  client.disconnect();
  await untilTold(2);
`;

const disabled = `
  ${exchange('ws', 'ws')}
  instrumentation.disable();
  const again = new WebSocket('ws://127.0.0.1:' + wss.address().port);
  await new Promise((resolve) => again.on('close', resolve));
  instrumentation.enable();
  const third = new WebSocket('ws://127.0.0.1:' + wss.address().port);
  await new Promise((resolve) => third.on('close', resolve));
  await untilTold(4);
`;

function run(line: NodeLine, source: string): Promise<unknown> {
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
  return new Promise((resolve) => {
    child.on('close', () => resolve(err === '' && out !== '' ? JSON.parse(out) : err));
  });
}

const BOTH_ENDS = ['client 1', 'server 1'];

// Processes that start beside others may take seconds each.
describe.each(LINES)('on Node %i', { timeout: 120_000 }, (line) => {
  test('every copy of ws that is required is followed', async () => {
    const hooks = HOOKS['without a loader hook'];
    for (const [server, client] of [
      ['ws', 'ws'],
      ['ws7', 'ws'],
      ['ws', 'ws7'],
    ] as const) {
      expect(await run(line, program(hooks, REQUIRE, exchange(server, client)))).toEqual(BOTH_ENDS);
    }
  });

  test('so are the copies that packages bring with them', async () => {
    const hooks = HOOKS['without a loader hook'];
    expect(await run(line, program(hooks, REQUIRE, socketIo))).toEqual(BOTH_ENDS);
  });

  test('an ES module that imports ws is followed without a loader hook, loaded before or after', async () => {
    for (const hooks of [HOOKS['without a loader hook'], "await import('ws');"]) {
      expect(await run(line, program(hooks, IMPORT, exchange('ws', 'ws')))).toEqual(BOTH_ENDS);
      expect(await run(line, program(hooks, IMPORT, exchange('ws', 'ws7')))).toEqual(BOTH_ENDS);
    }
    expect(await run(line, program('', IMPORT, socketIo))).toEqual(BOTH_ENDS);
  });

  test.each(['with the asynchronous loader hook', 'with synchronous hooks'] as const)(
    'an ES module that imports ws is followed %s',
    async (way) => {
      expect(await run(line, program(HOOKS[way], IMPORT, exchange('ws', 'ws')))).toEqual(BOTH_ENDS);
      expect(await run(line, program(HOOKS[way], IMPORT, socketIo))).toEqual(BOTH_ENDS);
    },
  );

  test('nothing is followed while it is disabled, and everything again after', async () => {
    const hooks = HOOKS['without a loader hook'];
    const told = await run(line, program(hooks, REQUIRE, disabled));
    expect(told).toEqual([...BOTH_ENDS, ...BOTH_ENDS].sort());
  });
});
