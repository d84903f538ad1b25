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

test('under rising load metrics count what fell out of the window, and spans tell the same loads', async () => {
  const collector = await otlpCollector();
  const { code, stdout } = await runNode([BIN, 'demo', '--load'], { cwd: CLI, env: collector.env });
  await collector.close();
  expect(stdout).toContain('8 steps counted right, 0 wrong');
  expect(code).toBe(0);

  const bars = [...stdout.matchAll(/^ +(\S+(?: to \S+)?) +┤.* (\d+) of (\d+)$/gm)];
  const told = new Map(bars.map(([, name = '', lost, all]) => [name, [Number(lost), Number(all)]]));
  const [low = [1, 1], high = [0, 1]] = [told.get('low'), told.get('high')];
  expect(high[0]! / high[1]!).toBeGreaterThan(low[0]! / low[1]!);

  const verdicts = collector.spans.filter(
    ({ name, attributes }) => name === 'sse accept' && 'event_stream.classification' in attributes,
  );
  const seen = new Map<string, number[]>();
  for (const { attributes } of verdicts) {
    const utilization = Number(attributes['event_stream.load.event_loop_utilization']);
    const isLost = Number(attributes['event_stream.classification'] === 'reoriginated');
    for (const name of [String(attributes['event_stream.load.level']), bucketOf(utilization)]) {
      const [lost = 0, all = 0] = seen.get(name) ?? [];
      seen.set(name, [lost + isLost, all + 1]);
    }
  }
  expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(told));
}, 180_000);

const BOUNDS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];

function bucketOf(utilization: number): string {
  const upTo = Math.max(
    1,
    BOUNDS.findIndex((bound) => utilization <= bound),
  );
  return `${BOUNDS[upTo - 1]} to ${BOUNDS[upTo]}`;
}

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
