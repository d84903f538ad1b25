import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SseInstrumentationConfig } from '@sameriver/instrumentation-sse';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { renderConfiguration } from '../../scripts/render-configuration.ts';
import { OPTIONS } from './options.ts';
import { readConfig } from './read-config.ts';
import { SWITCHES } from './switches.ts';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sameriver-'));
});

afterEach(() => rmSync(cwd, { recursive: true }));

function read(env: NodeJS.ProcessEnv = {}, given: SseInstrumentationConfig = {}, file?: unknown) {
  if (file !== undefined) {
    const text = typeof file === 'string' ? file : JSON.stringify(file);
    writeFileSync(join(cwd, 'sameriver.json'), text);
  }
  return readConfig(given, { env, cwd });
}

test('nothing set is nothing said', () => {
  expect(read()).toEqual({ config: {}, places: new Map(), problems: [] });
});

describe('the object comes before the environment, that before the file', () => {
  const file = {
    events: 'span',
    capture: { cursor: 'hash', epoch: 'hash' },
    load: { high: { eventLoopDelay: 300, activeStreams: 10 } },
  };
  const env = { SAMERIVER_CAPTURE_CURSOR: 'off', SAMERIVER_LOAD_HIGH_DELAY: '400' };

  test('member by member, not group by group', () => {
    const { config, problems } = read(env, { load: { high: { eventLoopDelay: 500 } } }, file);
    expect(problems).toEqual([]);
    expect(config).toEqual({
      events: 'span',
      capture: { cursor: 'off', epoch: 'hash' },
      load: { high: { eventLoopDelay: 500, activeStreams: 10 } },
    });
  });

  test('and what cannot be used leaves the next of them in force', () => {
    const { config, problems } = read({ SAMERIVER_EVENTS: 'everything' }, {}, file);
    expect(config.events).toBe('span');
    expect(problems).toEqual([
      'SAMERIVER_EVENTS is "everything": expected one of log, span, both, off',
    ]);
  });
});

describe('every option', () => {
  const SAMPLES: Readonly<Record<string, readonly [text: string, value: unknown]>> = {
    client: ['off', false],
    server: ['0', false],
    'capture.cursor': ['hash', 'hash'],
    'capture.epoch': ['off', 'off'],
    reconnectWindow: ['5000', 5000],
    decisionTimeout: ['250', 250],
    identity: ['json:/key, sse:id', ['json:/key', 'sse:id']],
    metrics: ['prometheus', 'prometheus'],
    events: ['both', 'both'],
    'eventBudget.burst': ['3', 3],
    'eventBudget.interval': ['100', 100],
    markReoriginatedAsError: ['true', true],
    'load.elevated.eventLoopUtilization': ['0.5', 0.5],
    'load.elevated.eventLoopDelay': ['20', 20],
    'load.elevated.activeStreams': ['100', 100],
    'load.high.eventLoopUtilization': ['1', 1],
    'load.high.eventLoopDelay': ['90', 90],
    'load.high.activeStreams': ['200', 200],
    closedStreams: ['64', 64],
    history: ['1024', 1024],
    profiles: ['', [{ name: 'own' }]],
  };

  test('has a sample here', () => {
    expect(Object.keys(SAMPLES)).toEqual(OPTIONS.map(({ path }) => path));
  });

  test.each(OPTIONS)('$path can be written in the file', ({ path }) => {
    const [, value] = SAMPLES[path]!;
    const nested = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    const { config, problems } = read({}, {}, nested);
    expect(problems).toEqual([]);
    expect(config).toMatchObject(nested as object);
  });

  test.each(OPTIONS.filter(({ env }) => env))('$env sets $path', ({ path, env }) => {
    const [text, value] = SAMPLES[path]!;
    const { config, problems } = read({ [env!]: text });
    expect(problems).toEqual([]);
    expect(path.split('.').reduce<unknown>((at, key) => (at as never)[key], config)).toEqual(value);
  });

  test.each(OPTIONS.filter(({ env }) => env))('$env refuses nonsense in one line', ({ env }) => {
    const { config, problems } = read({ [env!]: 'no such value' });
    expect(config).toEqual({});
    expect(problems).toEqual([
      expect.stringMatching(`^${env} is "no such value": expected [^\\n]+$`),
    ]);
  });

  test('and every switch is documented, and nothing else', () => {
    const docs = readFileSync(
      new URL('../../../../docs/configuration.md', import.meta.url),
      'utf8',
    );
    expect(docs, 'run: pnpm --filter @sameriver/node run generate').toBe(renderConfiguration());
    for (const { path } of OPTIONS) expect(docs).toContain(`| \`${path}\` `);
    for (const { env } of SWITCHES) expect(docs).toContain(`| \`${env}\` `);
  });
});

test('half an event budget gets its other half from the default', () => {
  const { config } = read({ SAMERIVER_EVENT_BURST: '3' });
  expect(config.eventBudget).toEqual({ burst: 3, interval: 6000 });
});

test('functions of the object are passed on, whatever else there is', () => {
  const given = { ignoreRequest: () => true, streamKey: () => 'one', reportHook: () => {} };
  expect(read({ SAMERIVER_EVENTS: 'off' }, given)).toEqual({
    config: { ...given, events: 'off' },
    places: new Map([['events', 'SAMERIVER_EVENTS']]),
    problems: [],
  });
});

describe('limits', () => {
  test.each([
    ['SAMERIVER_LOAD_HIGH_UTILIZATION', '1.01'],
    ['SAMERIVER_LOAD_HIGH_UTILIZATION', '-0.1'],
    ['SAMERIVER_LOAD_HIGH_UTILIZATION', ' '],
    ['SAMERIVER_DECISION_TIMEOUT', '2147483648'],
    ['SAMERIVER_DECISION_TIMEOUT', '1.5'],
    ['SAMERIVER_DECISION_TIMEOUT', 'Infinity'],
    ['SAMERIVER_HISTORY', '0'],
  ])('%s=%j is refused', (name, text) => {
    expect(read({ [name]: text })).toMatchObject({ config: {}, problems: [expect.any(String)] });
  });

  test('a variable set to nothing is not set', () => {
    expect(read({ SAMERIVER_HISTORY: '' })).toEqual({
      config: {},
      places: new Map(),
      problems: [],
    });
  });
});

describe('the file', () => {
  test.each<[string, unknown, RegExp]>([
    ['is no JSON', '{"events":', /sameriver\.json: is not JSON: [^\n]+$/],
    ['is no object', [1], /sameriver\.json: expected an object, found \[1\]$/],
    ['has a value for a group', { load: 'high' }, /: load is "high": expected an object$/],
    ['has a misspelt member', { capture: { curser: 'off' } }, /did you mean capture\.cursor\?$/],
    ['has a misspelt group', { lod: {} }, /: lod is not an option; did you mean load\?$/],
    ['has a member like nothing else', { whatever: 1 }, /: whatever is not an option$/],
    ['has a number as text', { history: '64' }, /: history is "64": expected an integer/],
    ['has far too much', { events: 'x'.repeat(1000) }, /: events is "x{79}…: expected/],
  ])('%s: one line', (_, file, problem) => {
    const { config, problems } = read({}, {}, file);
    expect(config).toEqual({});
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  test('may be named, and must then exist', () => {
    writeFileSync(join(cwd, 'mine.json'), '{"events":"both"}');
    expect(read({ SAMERIVER_CONFIG_FILE: 'mine.json' }).config).toEqual({ events: 'both' });
    expect(read({ SAMERIVER_CONFIG_FILE: 'none.json' }).problems).toEqual([
      expect.stringMatching(/none\.json: ENOENT/),
    ]);
  });
});

test('a variable that is no option is named, other families of variables are not', () => {
  const { problems } = read({ SAMERIVER_EVENT: 'log', OTEL_EVENT: 'x', SAMERIVER_SDK: 'off' });
  expect(problems).toEqual(['SAMERIVER_EVENT is not an option; did you mean SAMERIVER_EVENTS?']);
});
