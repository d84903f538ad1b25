import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { otlpCollector, runNode } from '@sameriver/testkit';
import { expect, test } from 'vitest';
import { demo } from './demo.ts';

const CLI = fileURLToPath(new URL('../../', import.meta.url));
const BIN = 'bin/sameriver.js';

test('all incidents come to the right verdicts, and a collector gets all spans', async () => {
  const collector = await otlpCollector();
  const { code, stdout, stderr } = await runNode([BIN, 'demo'], { cwd: CLI, env: collector.env });
  await collector.close();
  expect(stderr).toBe('');
  expect(stdout).toContain('14 verdicts right, 0 wrong');
  expect(stdout).toMatch(/server +reoriginated +window_exceeded +4318 > 4619 +300 +0 /);
  expect(stdout).toMatch(/client +reoriginated +cursor_not_advanced +4118 > 13 +unknown +0 /);
  expect(stdout).toMatch(/server_missed_events_total\{.*load_level="\w+"\} 300$/m);
  expect(stdout).toMatch(/^ +replays +202 +11 12 13 14 +client +replayed +0 +resumed /m);
  expect(stdout).toMatch(/^ +refuses +409 +- +client +refused +0 +refused +cursor_conflict$/m);
  expect(stdout).toMatch(/^ +loses +202 +14 +client +lossy +3 +reoriginated +window_exceeded$/m);
  expect(stdout).toMatch(/^ +server +lossy +3 +unverifiable +no_window$/m);
  expect(stdout).toMatch(/^ +42 +33 +0 +0 +9 +33 +2$/m);
  expect(stdout).not.toContain('\u001b');
  expect(code).toBe(0);
  const services = new Set(collector.spans.map(({ resource }) => resource['service.name']));
  expect([...services].sort()).toEqual([
    'mcp-client-1',
    'mcp-client-2',
    'mcp-client-guarded',
    'mcp-server-a',
    'mcp-server-b',
    'session-client',
    'session-loses',
    'session-refuses',
    'session-replays',
  ]);
}, 90_000);

test('under rising load the metrics count exactly what fell out of the window', async () => {
  const { code, stdout } = await runNode([BIN, 'demo', '--load'], { cwd: CLI });
  expect(stdout).toContain('8 steps counted right, 0 wrong');
  const levels = [...stdout.matchAll(/^ +(low|high) +┤.* (\d+) of (\d+)$/gm)];
  const ratios = levels.map(([, level, lost, all]) => [level, Number(lost) / Number(all)]);
  const { low = 1, high = 0 } = Object.fromEntries(ratios);
  expect(high).toBeGreaterThan(low);
  expect(code).toBe(0);
}, 180_000);

test('an interrupted demo leaves no process behind', async () => {
  const child = spawn(process.execPath, [BIN, 'demo'], {
    cwd: CLI,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let told = '';
  await new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      told += text;
      // The first incident is over by then, so all kinds of processes run.
      if (told.includes('\n2  ')) resolve();
    });
  });
  // Not before its stderr is closed, which each of its processes has open too.
  const closed = once(child.stderr.resume(), 'close');
  const exit = once(child, 'exit');
  child.kill('SIGINT');
  const [code] = await exit;
  await closed;
  expect(code).toBe(130);
}, 60_000);

test('an argument that makes no sense is refused, and --help explains', async () => {
  let out = '';
  const terminal = {
    out: (text: string) => {
      out += text;
    },
    err: () => {},
    paint: (_: string, text: string) => text,
  };
  await expect(demo.run(['--targets'], terminal)).rejects.toThrow("'--targets <value>'");
  await expect(demo.run(['--fast'], terminal)).rejects.toThrow("unknown option '--fast'");
  expect(await demo.run(['--help'], terminal)).toBe(0);
  expect(out).toMatch(/^Usage: sameriver demo /);
});
