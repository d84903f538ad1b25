import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { judgeTranscript, parseTranscript } from '@sameriver/core';
import { incidents, nodeBinary, transcriptJson } from '@sameriver/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const BIN = fileURLToPath(new URL('../bin/sameriver.js', import.meta.url));

const parsed = [...incidents(), ...incidents('rules')].map(({ path, json }) => ({
  path,
  transcript: parseTranscript(json),
}));
const reported = parsed.slice(0, incidents().length);
const overSockets = parsed.filter(({ transcript }) =>
  transcript.connections.some(({ transport }) => transport === 'websocket'),
);

/** The lines that the rules alone give. */
function byTheRules(played: typeof parsed): string[] {
  return played.map(({ transcript }) =>
    JSON.stringify({ name: transcript.name, reconnects: judgeTranscript(transcript) }),
  );
}

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sameriver-bin-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function run(node: string, args: readonly string[], path = process.env['PATH']) {
  const { status, stdout, stderr } = spawnSync(node, args, {
    encoding: 'utf8',
    env: { ...process.env, PATH: path, NODE_OPTIONS: '' },
  });
  return { status, out: stdout, err: stderr };
}

describe.each([22, 24, 26] as const)('the built command on Node %i', (line) => {
  const play = (via: string, played: typeof parsed) => {
    const paths = played.map(({ path }) => path);
    const args = [BIN, 'replay', '--json', `--via=${via}`, ...paths];
    const { status, out, err } = run(nodeBinary(line), args);
    expect([status, err]).toEqual([0, '']);
    return out.split('\n').filter((text) => text !== '');
  };

  test.each(['fetch', 'http', 'undici', 'eventsource'])(
    'plays every incident to %s in one process, and the verdicts are those of the rules alone',
    (via) => {
      const judged = play(via, reported).filter((text) => !text.includes('"skipped"'));
      expect(byTheRules(reported)).toEqual(expect.arrayContaining(judged));
      expect(judged.length).toBeGreaterThan(reported.length / 2);
    },
  );

  const POST = 'migration-by-post-upgrade';
  const HEADERS = ['migration-without-profile', 'migration-without-profile-by-header'];
  test.each<[string, readonly string[]]>([
    ['ws', [POST]],
    ['undici', [POST]],
    ['global', [POST, ...HEADERS]],
  ])('plays every WebSocket to %s but those that it cannot open: %j', (via, unsendable) => {
    const expected = byTheRules(overSockets);
    const played = play(via, overSockets);
    const judged = played.filter((text) => expected.includes(text));
    const rest = played.filter((text) => !expected.includes(text)).map((text) => JSON.parse(text));
    expect(rest.map(({ name }) => name).sort()).toEqual([...unsendable].sort());
    expect(rest.every(({ skipped }) => typeof skipped === 'string')).toBe(true);
    expect(judged.length).toBe(overSockets.length - unsendable.length);
  });
});

describe('the exit status reaches the shell', () => {
  test.each([
    [0, []],
    [1, [{ connection: 0, classification: 'resumed' }]],
    [2, 'nothing'],
  ])('%i', (status, reconnects) => {
    const file = join(folder, `${status}.json`);
    writeFileSync(file, JSON.stringify({ ...transcriptJson({}), expect: { reconnects } }));
    expect(run(process.execPath, [BIN, 'replay', file]).status).toBe(status);
  });

  test('2 for a command that does not exist', () => {
    const { status, err } = run(process.execPath, [BIN, 'relay']);
    expect([status, err]).toEqual([
      2,
      'sameriver: there is no command "relay". See sameriver --help.\n',
    ]);
  });
});

describe.skipIf(process.platform === 'win32')('on a Node that is too old', () => {
  const tooOld = (): string => {
    const preload = join(folder, 'too-old.mjs');
    const versions = `{ ...process.versions, node: '20.20.2' }`;
    writeFileSync(preload, `Object.defineProperty(process, 'versions', { value: ${versions} });\n`);
    return `--import=${preload}`;
  };

  const npmThatSays = (name: string, answer: string): string => {
    const bin = mkdtempSync(join(folder, name));
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${answer}\n`);
    chmodSync(join(bin, 'npm'), 0o755);
    return bin;
  };

  test('it runs itself with the Node that npm lends', () => {
    const path = npmThatSays('lends-', `echo ${process.execPath}`);
    const { status, out } = run(process.execPath, [tooOld(), BIN, 'replay', '--help'], path);
    expect(status).toBe(0);
    expect(out).toContain('Usage: sameriver replay');
  });

  test.each([
    ['npm has none', 'exit 1'],
    ['npm answers with no Node', 'echo /bin/false'],
  ])('it says what to do when %s', (title, answer) => {
    const path = npmThatSays(`${title.replaceAll(' ', '-')}-`, answer);
    const { status, err } = run(process.execPath, [tooOld(), BIN, 'replay', 'a.json'], path);
    expect(status).toBe(2);
    expect(err).toBe(
      'sameriver: needs Node >= 22.15; this is 20.20.2, and npm cannot lend Node 24.21.0: ' +
        'install Node 24 and try again.\n',
    );
  });
});
