import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createClientTimeline,
  createServerTimeline,
  judgeTranscript,
  parseTranscript,
  ShapeError,
  validateProfile,
} from '@sameriver/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitMessages } from '../../packages/core/src/messages.ts';
import { compileProfile } from '../../packages/core/src/profile/compile.ts';
import { anyHolds, compileCondition } from '../../packages/core/src/profile/condition.ts';
import type { Condition } from '../../packages/core/src/profile/profile.ts';
import { OPTIONS } from '../../packages/node/src/config/options.ts';
import { readConfig } from '../../packages/node/src/config/read-config.ts';

/*
 * What strangers write (a peer's messages, a user's profiles, transcripts and settings) is refused by
 * name or taken, and never anything else. Scanner, history, cursors and header field have property
 * tests of their own beside their sources.
 */
const CASES = new URL('../cases/', import.meta.url);
const RUNS = 500 * Number(process.env['SAMERIVER_FUZZ'] ?? 1);

const json = fc.jsonValue({ maxDepth: 4 });

/** Replaces, removes or repeats something anywhere in a document. */
function mutated(document: unknown): fc.Arbitrary<unknown> {
  const paths: (string | number)[][] = [];
  const walk = (value: unknown, path: (string | number)[]): void => {
    paths.push(path);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key]);
  };
  walk(document, []);
  const change = fc.record({
    path: fc.constantFrom(...paths),
    how: fc.constantFrom('replace', 'remove', 'double'),
    by: json,
  });
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    let result = structuredClone(document);
    for (const { path, how, by } of changes) result = change1(result, path, how, by);
    // A hole in a list is nothing that a document can have.
    return JSON.parse(JSON.stringify(result ?? null)) as unknown;
  });
}

function change1(document: unknown, path: (string | number)[], how: string, by: unknown): unknown {
  const last = path.at(-1);
  if (last === undefined) return how === 'replace' ? by : document;
  let parent = document;
  for (const key of path.slice(0, -1)) {
    if (typeof parent !== 'object' || parent === null) return document;
    parent = Reflect.get(parent, key);
  }
  if (typeof parent !== 'object' || parent === null) return document;
  if (how === 'remove') Reflect.deleteProperty(parent, last);
  else if (how === 'double' && Array.isArray(parent)) parent.push(Reflect.get(parent, last));
  else Reflect.set(parent, last, by);
  return document;
}

function expectOnly(error: unknown, kinds: readonly (new (...args: never[]) => Error)[]): void {
  if (!kinds.some((kind) => error instanceof kind)) throw error;
  expect((error as Error).message.length).toBeLessThan(20_000);
}

const PROFILE = {
  name: 'example',
  match: { transport: 'websocket', path: '^/rooms', signs: [{ 'json:/event': 'hello' }] },
  messages: 'json',
  key: '^/rooms/([^/]+)',
  stream: 'json:/channel',
  cursor: { sent: ['query:since'], received: ['sse:id', 'json:/seq'], codec: 'int', dense: true },
  epoch: { received: ['header:x-epoch', 'json:/data/connection_id~^(.+)$'] },
  window: { oldest: ['json:/oldest'] },
  resumed: [{ 'json:/recovered': true }],
  reset: [{ 'sse:event': 'reset' }],
  refused: [{ status: 409 }, { close: [4007, 4009] }],
  control: [{ 'sse:event': ['ping', 'sync'] }],
  identity: ['json:/key'],
};

describe('profiles of a user', () => {
  test('are compiled, or refused with the place that is wrong', () => {
    fc.assert(
      fc.property(fc.oneof(json, mutated(PROFILE)), (value) => {
        try {
          compileProfile(validateProfile(value));
        } catch (error) {
          expectOnly(error, [ShapeError, SyntaxError]);
        }
      }),
      { numRuns: RUNS },
    );
  });

  const literal = fc.oneof(fc.string(), fc.integer(), fc.boolean());
  const subject = fc.record({
    json,
    status: fc.integer({ min: 100, max: 599 }),
    sse: fc.record({
      id: fc.option(fc.string(), { nil: undefined }),
      event: fc.string(),
      data: fc.string(),
    }),
  });
  const place = fc.constantFrom(
    'json:/a',
    'json:/a/b',
    'json:/*/c',
    'json:/-1',
    'sse:event',
    'status',
  );

  test('conditions: a list holds where one of its values does, present is not absent', () => {
    fc.assert(
      fc.property(
        place,
        fc.array(literal, { minLength: 1, maxLength: 4 }),
        subject,
        (at, values, of) => {
          const says = (value: Condition[string]): boolean =>
            anyHolds([compileCondition({ [at]: value })], of);
          expect(says(values)).toBe(values.some((value) => says(value)));
          expect(says({ present: true })).toBe(!says({ absent: true }));
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('messages of a peer', () => {
  const formats = ['json', 'json-lines', 'json-rs', 'engine.io', 'none'] as const;
  const piece = fc.oneof(
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      '\n',
      '\u001e',
      ':',
      ',',
      '42',
      '0{"sid":"x"}',
      '451-',
    ),
    json.map((value) => JSON.stringify(value)),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

  test('are split without an error, into parts of what came', () => {
    fc.assert(
      fc.property(fc.constantFrom(...formats), text, (format, frame) => {
        for (const message of splitMessages(format, frame)) {
          expect(frame).toContain(message.text);
          void message.value;
          void message.member?.('a');
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('go through both timelines without an error', () => {
    const silent = { settled() {}, revised() {}, inStream() {}, ended() {} };
    const options = { observer: silent, profiles: [validateProfile(PROFILE)] };
    const header = (name: string): string | undefined =>
      name === 'upgrade' ? 'websocket' : undefined;
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), text), { maxLength: 20 }), (frames) => {
        for (const timeline of [createClientTimeline(options), createServerTimeline(options)]) {
          const request = {
            transport: 'websocket',
            method: 'GET',
            origin: 'http://a',
            target: '/rooms/1',
            header,
          } as const;
          const connection = timeline.open(request, 0);
          connection.response(101, header);
          for (const [isSent, frame] of frames) {
            if (isSent) connection.sent(frame);
            else connection.message(frame);
          }
          connection.timeout();
          connection.end('close:1006', 1);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('as SSE bytes likewise, however they are cut', () => {
    const silent = { settled() {}, revised() {}, inStream() {}, ended() {} };
    const bytes = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });
    const header = (name: string): string | undefined =>
      name === 'content-type' ? 'text/event-stream' : '7';
    fc.assert(
      fc.property(bytes, (chunks) => {
        for (const create of [createClientTimeline, createServerTimeline]) {
          const request = {
            transport: 'sse',
            method: 'GET',
            origin: 'http://a',
            target: '/',
            header,
          } as const;
          const connection = create({ observer: silent }).open(request, 0);
          connection.response(200, header);
          for (const chunk of chunks) connection.push(chunk);
          connection.end('eof', 1);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe('transcripts', () => {
  const known = [
    'seed-cursor-4118-answered-with-13',
    'rule-ws-sio-two-namespaces-two-verdicts',
    'seed-migration-cursor-carried-replay-first',
  ].map((name): unknown => JSON.parse(readFileSync(new URL(`${name}.json`, CASES), 'utf8')));

  test('are judged, or refused with the place that is wrong', () => {
    const transcript = fc.oneof(json, ...known.map((document) => mutated(document)));
    fc.assert(
      fc.property(transcript, (value) => {
        try {
          const parsed = parseTranscript(value);
          judgeTranscript(parsed);
        } catch (error) {
          expectOnly(error, [ShapeError, SyntaxError]);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

test('configuration: whatever stands in the environment and the file is read, and what cannot be used is named', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'sameriver-fuzz-'));
  const names = OPTIONS.flatMap(({ env }) => env ?? []);
  const env = fc.dictionary(
    fc.oneof(
      fc.constantFrom(...names),
      fc.string().map((name) => `SAMERIVER_${name.replace(/[\0=]/g, '')}`),
    ),
    fc.string({ maxLength: 20 }),
    { maxKeys: 5 },
  );
  const file = fc.oneof(
    json.map((value) => JSON.stringify(value)),
    fc.string(),
  );
  fc.assert(
    fc.property(env, file, (variables, content) => {
      writeFileSync(join(cwd, 'sameriver.json'), content);
      const { problems } = readConfig({}, { env: variables, cwd });
      for (const problem of problems) expect(problem).not.toContain('\n');
    }),
    { numRuns: RUNS },
  );
});
