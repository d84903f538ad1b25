import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StreamConnection } from './connection.ts';
import { MAX_TEXT, splitMessages } from './messages.ts';
import type { MessageFormat, Profile } from './profile/profile.ts';
import { createClientTimeline } from './timeline/client-timeline.ts';

fc.configureGlobal({ numRuns: 100 * Number(process.env['SAMERIVER_FUZZ'] ?? 1) });

const SEPARATORS = { 'json-lines': '\n', 'json-rs': '\u001e' } as const;
const FORMATS: readonly MessageFormat[] = [
  'json',
  'json-lines',
  'json-rs',
  'engine.io',
  'msgpack',
  'msgpack-lp',
  'cbor-seq',
  'none',
];

/** As JSON writes and reads it; longer integers keep their digits as text, which has its own tests. */
const json = fc
  .jsonValue({ depthSize: 'small' })
  .filter((value) => !/\d{16}/.test(JSON.stringify(value)))
  .map((value): unknown => JSON.parse(JSON.stringify(value)));

const valuesOf = (format: MessageFormat, text: string): unknown[] =>
  splitMessages(format, text).map(({ value }) => value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe('what a splitter hands on is what JSON.parse makes of it', () => {
  test('json', () => {
    fc.assert(
      fc.property(json, fc.constantFrom('', ' ', '\n\t'), (value, space) => {
        const text = `${space}${JSON.stringify(value)}${space}`;
        expect(valuesOf('json', text)).toEqual([value]);
      }),
    );
  });

  test('json, cut off or with anything behind it', () => {
    fc.assert(
      fc.property(json, fc.nat(), fc.string({ maxLength: 3 }), (value, cut, more) => {
        const whole = JSON.stringify(value);
        const text = whole.slice(0, cut % (whole.length + 1)) + more;
        fc.pre(!/\d{16}/.test(text));
        expect(valuesOf('json', text)).toEqual([parsed(text)]);
      }),
    );
  });

  test('a member of it, looked up before the rest is read', () => {
    // A star stands for every member.
    const name = fc.string({ maxLength: 3 }).filter((text) => text !== '*');
    const object = fc.dictionary(name, json, { noNullPrototype: true });
    fc.assert(
      fc.property(object, name, (given, other) => {
        const text = JSON.stringify(given);
        const value = JSON.parse(text) as Record<string, unknown>;
        for (const key of [...Object.keys(value), other]) {
          const [message] = splitMessages('json', text);
          const expected = Object.hasOwn(value, key) ? value[key] : undefined;
          expect(message?.member?.(key)).toEqual(expected);
        }
      }),
    );
  });

  test.each(Object.entries(SEPARATORS))('%s, with the last one cut off', (format, separator) => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 5 }), json, fc.nat(), (values, last, cut) => {
        const lines = values.map((value) => JSON.stringify(value) + separator);
        const whole = JSON.stringify(last);
        const part = whole.slice(0, cut % whole.length);
        const expected = part.trim() === '' ? values : [...values, parsed(part)];
        expect(valuesOf(format as MessageFormat, lines.join('') + part)).toEqual(expected);
      }),
    );
  });

  test('engine.io, with Socket.IO packets in it', () => {
    const packet = fc.record({
      kind: fc.nat(6),
      nsp: fc.constantFrom('/', '/admin', '/a/b'),
      attachments: fc.option(fc.nat(1e9), { nil: undefined }),
      id: fc.option(fc.nat(1e9), { nil: undefined }),
      data: fc.option(fc.oneof(fc.array(json), fc.dictionary(fc.string(), json)), {
        nil: undefined,
      }),
    });
    fc.assert(
      fc.property(packet, ({ kind, nsp, attachments, id, data: given }) => {
        const data = given && (JSON.parse(JSON.stringify(given)) as unknown);
        const head = `4${kind}${attachments === undefined ? '' : `${attachments}-`}`;
        const rest = `${id ?? ''}${data === undefined ? '' : JSON.stringify(data)}`;
        const [value] = valuesOf('engine.io', `${head}${nsp === '/' ? '' : `${nsp},`}${rest}`);
        const expected = { type: kind, nsp, ...(id === undefined ? {} : { id }), data };
        expect(value).toEqual({ type: 4, packet: expected });
      }),
    );
  });
});

describe('a hostile frame', () => {
  const DEEP = 500_000;
  const LONG = 10 << 20;
  const HOSTILE: readonly (readonly [string, string])[] = [
    ['of ten mebibytes', `{"data":"${'x'.repeat(LONG)}"}`],
    ['of half a million open brackets', '['.repeat(DEEP)],
    ['of half a million levels', '['.repeat(DEEP) + ']'.repeat(DEEP)],
    [
      'of deep objects with a long number',
      `${'{"a":'.repeat(100_000)}12345678901234567${'}'.repeat(100_000)}`,
    ],
    ['of separators', '\n\u001e'.repeat(DEEP)],
    ['of lone surrogates', '"\ud800"'.repeat(1000)],
    ['of replacement characters', '\ufffd'.repeat(DEEP)],
    ['of quotes and backslashes', `{"${'\\"'.repeat(100_000)}`],
    [
      'that announces attachments without end',
      `45${'9'.repeat(DEEP)}-["x",{"_placeholder":true,"num":0}]`,
    ],
    ['that acknowledges a number without end', `43${'9'.repeat(DEEP)}`],
    ['in a namespace without end', `42/${'a'.repeat(DEEP)}`],
    ['of half a record', '{"type":9,"sequenceId":4}\u001e{"type":1,"tar'],
  ];

  test('of any text is split without an error, into parts of a bounded number', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FORMATS), fc.string({ unit: 'binary' }), (format, text) => {
        expect(() => valuesOf(format, text)).not.toThrow();
      }),
    );
    for (const format of FORMATS) {
      for (const [, text] of HOSTILE) expect(splitMessages(format, text).length).toBeLessThan(1025);
    }
  });

  test('of more than a mebibyte is handed on whole, and nothing in it is looked up', () => {
    const atLimit = JSON.stringify('x'.repeat(MAX_TEXT - 2));
    const longer = JSON.stringify('x'.repeat(MAX_TEXT - 1));
    expect(valuesOf('json', atLimit)).toEqual(['x'.repeat(MAX_TEXT - 2)]);
    for (const format of FORMATS) {
      for (const text of [longer, '{"id":1}\n\u001e'.repeat(MAX_TEXT / 8)]) {
        expect(valuesOf(format, text)).toEqual([undefined]);
      }
    }
  });

  const profileOf = (messages: MessageFormat): Profile => ({
    name: messages,
    match: { transport: 'websocket', path: `^/${messages}` },
    messages,
    stream: 'json:/packet/nsp',
    cursor: { sent: ['query:since'], received: ['json:/id', 'json:/packet/data/-1'], codec: 'int' },
    reset: [{ 'json:/*/type': 'reset' }],
  });

  test.each(HOSTILE)('%s costs a connection nothing but itself, whoever reads it', (_, text) => {
    for (const identity of ['payload', 'canonical-json', ['json:/a/a/a']] as const) {
      const timeline = createClientTimeline({
        profiles: FORMATS.map(profileOf),
        identity,
        observer: { settled() {}, revised() {}, inStream() {}, ended() {} },
      });
      const opened = FORMATS.map((format): StreamConnection => {
        const request = {
          transport: 'websocket',
          method: 'GET',
          origin: 'http://a.test',
          target: `/${format}?since=1`,
          header: () => undefined,
        } as const;
        const connection = timeline.open(request, 0);
        connection.response(101, () => undefined);
        return connection;
      });
      for (const connection of opened) {
        expect(() => connection.message(text)).not.toThrow();
        expect(() => connection.message('{"id":2}')).not.toThrow();
        expect(() => connection.end('close:1000', 1)).not.toThrow();
      }
    }
  });
});
