import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionPart } from '@sameriver/testkit';
import { incidents, transcriptJson } from '@sameriver/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from './main.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sameriver-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function run(...args: string[]) {
  let [out, err] = ['', ''];
  const status = await main(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    paint: (colour, text) => `<${colour}>${text}</${colour}>`,
  });
  return { status, out, err };
}

const incident = (name: string): string =>
  incidents().find(({ file }) => file === `${name}.json`)!.path;

const lost: readonly ConnectionPart[] = [
  { frames: [{ id: '4118', data: 'a' }], ends: 'reset' },
  {
    request: { headers: { 'last-event-id': '4118' } },
    frames: [{ id: '13', data: 'b' }],
    ends: 'open',
  },
];

const expecting = (classification: string, change: object = {}) => ({
  ...transcriptJson(...lost),
  expect: {
    reconnects: [{ connection: 1, classification, missed: 'unknown', duplicates: 0, ...change }],
  },
});

describe('sameriver', () => {
  test.each(['--version', '-v'])('%s says the version of the package', async (flag) => {
    const { version } = JSON.parse(
      readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
    ) as { readonly version: string };
    expect(await run(flag)).toEqual({ status: 0, out: `${version}\n`, err: '' });
  });

  test('--help lists the commands', async () => {
    const { status, out } = await run('--help');
    expect(status).toBe(0);
    expect(out).toMatch(/^ {2}replay {2}\S/m);
  });

  test('no command at all is told what there is, and is no success', async () => {
    expect(await run()).toMatchObject({ status: 2, out: expect.stringContaining('replay') });
  });

  test('an unknown command is an error', async () => {
    expect(await run('relay', 'a.json')).toEqual({
      status: 2,
      out: '',
      err: 'sameriver: there is no command "relay". See sameriver --help.\n',
    });
  });
});

describe('sameriver replay', () => {
  test('--help says what can be chosen, and that a server is not measured by expect', async () => {
    const { status, out } = await run('replay', '--help');
    expect(status).toBe(0);
    for (const word of ['--via', 'eventsource', '--side', 'not compared', '--pure', '--json']) {
      expect(out).toContain(word);
    }
  });

  test('an unknown option is an error that says where to look', async () => {
    expect(await run('replay', '--fast', 'a.json')).toEqual({
      status: 2,
      out: '',
      err: "sameriver replay: unknown option '--fast'. See sameriver replay --help.\n",
    });
  });

  test('--json prints one line a file, in order of the arguments', async () => {
    const paths = [
      incident('seed-cursor-4118-answered-with-13'),
      incident('sio-recovery-success'),
      fileOf('post.json', transcriptJson({ transport: 'websocket', request: { method: 'POST' } })),
    ];
    const { status, out, err } = await run('replay', '--json', ...paths);
    expect(out.split('\n')).toEqual([
      '{"name":"seed-cursor-4118-answered-with-13","reconnects":[{"connection":1,"classification":"reoriginated","reason":"cursor_not_advanced","missed":"unknown","duplicates":2}]}',
      '{"name":"sio-recovery-success","reconnects":[{"connection":1,"classification":"resumed","reason":"server_declared","missed":0,"duplicates":0}]}',
      '{"name":"made-for-a-test","skipped":"the handshake of a WebSocket is a GET; no client sends POST"}',
      '',
    ]);
    expect([status, err]).toEqual([0, '']);
  });

  test('people get aligned lines, colours and the sentence that says why', async () => {
    const { out } = await run('replay', incident('rule-gateway-503-then-502-during-deploy'));
    const why = [
      'The gateway has no backend and says so; nothing is delivered, so nothing is lost without notice.',
      'Second attempt with the same cursor, second plain failure.',
      'The new backend delivers 89 after 88, but the refusals before it are no evidence about its log and it names no generation.',
    ];
    expect(out.split('\n')).toEqual([
      '<bold>rule-gateway-503-then-502-during-deploy</bold>',
      `  connection 1  <cyan>refused     </cyan>  http_5xx  missed 0        duplicates 0  ${why[0]}`,
      `  connection 2  <cyan>refused     </cyan>  http_5xx  missed 0        duplicates 0  ${why[1]}`,
      `  connection 3  <yellow>unverifiable</yellow>  no_epoch  missed unknown  duplicates 0  ${why[2]}`,
      '',
    ]);
  });

  test('without an expectation the reason is explained in our words', async () => {
    const path = fileOf('plain.json', transcriptJson(...lost));
    expect((await run('replay', path)).out).toContain(
      'The first event does not lie after the cursor: it is another log.',
    );
  });

  test('a transcript without a reconnect says so', async () => {
    const { out } = await run('replay', incident('rule-two-completions-are-no-reconnect'));
    expect(out).toContain('\n  no reconnect\n');
  });

  test('--side server prints the view of the server beside that of the client', async () => {
    const path = incident('seed-window-of-200-overrun-unseen');
    const { status, out } = await run('replay', '--side', 'server', path);
    expect(status).toBe(0);
    expect(out).toContain(
      "no_window  missed unknown  duplicates 0  This instance wrote the cursor and nothing since; what others wrote is not seen here. The client's view: unverifiable (no_epoch), missed unknown, duplicates 0.",
    );
  });
});

describe('exit status', () => {
  test('0: every expectation is met, and a file without one expects nothing', async () => {
    const met = fileOf('met.json', expecting('reoriginated'));
    const silent = fileOf('silent.json', transcriptJson(...lost));
    expect(await run('replay', '--json', met, silent)).toMatchObject({ status: 0, err: '' });
  });

  test('1: an expectation is not met, and what differs is said', async () => {
    const path = fileOf('unmet.json', expecting('resumed', { missed: 0 }));
    for (const mode of [[], ['--pure'], ['--via', 'http']]) {
      expect(await run('replay', '--json', ...mode, path)).toMatchObject({
        status: 1,
        err: `${path}: connection 1: expected resumed, missed 0, duplicates 0, got reoriginated (cursor_not_advanced), missed unknown, duplicates 0\n`,
      });
    }
  });

  test('a verdict of the server is never measured by what is expected of the client', async () => {
    const path = fileOf('unmet-server.json', expecting('resumed'));
    expect(await run('replay', '--side', 'server', path)).toMatchObject({ status: 0, err: '' });
  });

  test('2: a bad file, and the others are still played', async () => {
    const bad = fileOf('bad.json', { ...transcriptJson(...lost), connections: 7 });
    const unmet = fileOf('unmet-too.json', expecting('resumed'));
    const { status, out, err } = await run('replay', '--json', bad, unmet, bad);
    expect(status).toBe(2);
    expect(out.match(/\n/g)).toHaveLength(1);
    expect(err.split('\n').filter((line) => line.startsWith(bad))).toHaveLength(2);
  });
});

describe('a bad file is named with the place and the reason', () => {
  const status = (value: unknown) => transcriptJson({ response: { status: value, headers: {} } });

  test.each<[string, unknown, RegExp]>([
    ['no JSON', '{"name": ', /: is no JSON: /],
    ['an empty file', '', /: is no JSON: /],
    ['deeper than any stack', '['.repeat(200_000), /: is no JSON: /],
    ['another document', [1], /: \(document\): expected an object, found an array$/],
    [
      'a wrong type deep inside',
      status('200'),
      /: \/connections\/0\/response\/status: expected an integer .*, found string "200"$/,
    ],
    [
      'an end that does not exist',
      transcriptJson({ ends: 'later' }),
      /: \/connections\/0\/ends: expected eof, reset, open or close:CODE, found "later"$/,
    ],
    [
      'an expectation for a connection that does not exist',
      { ...transcriptJson({}), expect: { reconnects: [{ connection: 1 }] } },
      /: \/expect\/reconnects\/0\/connection: expected /,
    ],
    [
      'a profile with a pattern that cannot be read',
      { ...transcriptJson({}), options: { profiles: [{ name: 'x', match: { path: '(' } }] } },
      /: \/options\/profiles\/0: .*Invalid regular expression/,
    ],
    [
      'an identity that is no place',
      { ...transcriptJson({}), options: { identity: ['key'] } },
      /: \/options.*: .*"key" is no place/,
    ],
  ])('%s', async (_title, content, message) => {
    const path = fileOf('hostile.json', content);
    for (const mode of [[], ['--pure']]) {
      const result = await run('replay', '--json', ...mode, path);
      expect(result).toMatchObject({ status: 2, out: '' });
      expect(result.err.startsWith(`${path}: `)).toBe(true);
      expect(result.err.trimEnd()).toMatch(message);
    }
  });

  test('a file that is not there', async () => {
    const path = join(folder, 'nowhere.json');
    expect(await run('replay', path)).toMatchObject({
      status: 2,
      err: expect.stringMatching(/nowhere\.json: cannot be read: ENOENT/),
    });
  });

  test('a folder', async () => {
    expect(await run('replay', folder)).toMatchObject({
      status: 2,
      err: expect.stringMatching(/: cannot be read: EISDIR/),
    });
  });
});

describe('a hostile file does no harm', () => {
  test('its text cannot steer the terminal', async () => {
    const content = { ...transcriptJson(...lost), name: '\u001b[2J\nfake' };
    const { out } = await run('replay', fileOf('escape.json', content));
    expect(out).toContain('\\u{1b}[2J\\u{a}fake');
  });

  test('a byte order mark in front is no part of the JSON', async () => {
    const content = `\uFEFF${JSON.stringify(transcriptJson(...lost))}`;
    expect(await run('replay', fileOf('bom.json', content))).toMatchObject({ status: 0, err: '' });
  });

  test('megabytes in one frame, and hundreds of connections, are played', async () => {
    const frames = [{ id: '14', data: 'x'.repeat(5_000_000) }];
    const many = Array.from({ length: 200 }, () => ({ ...lost[1], ends: 'eof' }));
    const content = transcriptJson(...lost, { ...lost[1], frames }, ...many);
    const { status, out } = await run('replay', '--json', fileOf('many.json', content));
    expect(status).toBe(0);
    expect(JSON.parse(out).reconnects).toHaveLength(202);
  });

  test('a redirect to another machine is never followed', async () => {
    const away = { status: 302, headers: { location: 'http://192.0.2.1:9/' } };
    const path = fileOf('away.json', transcriptJson(...lost, { response: away }));
    for (const via of ['fetch', 'eventsource', 'http', 'undici']) {
      expect(await run('replay', '--json', '--via', via, path)).toMatchObject({ status: 0 });
    }
  });
});
