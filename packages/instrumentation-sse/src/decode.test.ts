import { randomBytes } from 'node:crypto';
import {
  brotliCompressSync,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { expect, test } from 'vitest';
import type { DecodeFailure, Decoder, DecoderLimits } from './decode.ts';
import { contentDecoder } from './decode.ts';

const TEXT = 'id: 1\ndata: h\u00e9\u{1F600}\n\n'.repeat(50);

interface Run {
  readonly decoder: Decoder;
  readonly failures: DecodeFailure[];
  text(): string;
  finished(): Promise<void>;
}

function run(coding: string, limits?: DecoderLimits): Run {
  const parts: Buffer[] = [];
  const failures: DecodeFailure[] = [];
  const decoder = contentDecoder(
    coding,
    {
      decoded: (bytes) => void parts.push(Buffer.from(bytes)),
      failed: (failure) => void failures.push(failure),
    },
    limits,
  );
  if (typeof decoder === 'string') throw new Error(`${coding} is ${decoder}`);
  return {
    decoder,
    failures,
    text: () => Buffer.concat(parts).toString(),
    finished: () => new Promise((resolve) => decoder.end(resolve)),
  };
}

const CODINGS: [string, (text: string) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  [' GZip ', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
];

test.each(CODINGS)(
  'a body in %s is decoded from single bytes, in order',
  async (coding, compress) => {
    const it = run(coding);
    for (const byte of compress(TEXT)) it.decoder.push(Uint8Array.of(byte));
    await it.finished();
    expect(it.text()).toBe(TEXT);
    expect(it.failures).toEqual([]);
  },
);

test('bytes that were flushed are decoded before the end of the stream', async () => {
  const gzip = createGzip();
  const it = run('gzip');
  gzip.on('data', (bytes: Buffer) => it.decoder.push(bytes));
  gzip.write(TEXT);
  gzip.flush();
  await expect.poll(() => it.text()).toBe(TEXT);
  gzip.destroy();
  it.decoder.stop();
});

test.each(CODINGS.slice(3))('a body in %s that is cut is no failure', async (coding, compress) => {
  const body = compress(randomBytes(5000).toString('hex'));
  const it = run(coding);
  it.decoder.push(body.subarray(0, body.length - 20));
  await it.finished();
  expect(it.failures).toEqual([]);
});

test('the caller may reuse its buffer as soon as push returns', async () => {
  const body = gzipSync(TEXT);
  const it = run('gzip');
  it.decoder.push(body);
  body.fill(0);
  await it.finished();
  expect(it.text()).toBe(TEXT);
});

test('bytes that are not in the declared coding end the decoder with one failure', async () => {
  const it = run('gzip');
  it.decoder.push(Buffer.from('data: plain\n\n'));
  await it.finished();
  it.decoder.push(Buffer.from('data: more\n\n'));
  expect(it.failures).toEqual(['malformed']);
  expect(it.text()).toBe('');
});

test('more waiting bytes than allowed are an overflow, and nothing is kept', async () => {
  const it = run('gzip', { pendingBytes: 64, freeBytes: 1e6, expansion: 1 });
  it.decoder.push(new Uint8Array(40));
  it.decoder.push(new Uint8Array(40));
  expect(it.failures).toEqual(['overflow']);
  await it.finished();
});

test('a body that unfolds beyond its allowance is an overflow', async () => {
  const it = run('gzip', { pendingBytes: 1e6, freeBytes: 100_000, expansion: 2 });
  it.decoder.push(gzipSync(Buffer.alloc(10_000_000)));
  await it.finished();
  expect(it.failures).toEqual(['overflow']);
  expect(it.text().length).toBeLessThanOrEqual(100_000 + 40_000);
});

test('a stopped decoder says nothing more', async () => {
  const it = run('gzip');
  it.decoder.push(gzipSync(TEXT));
  it.decoder.stop();
  let done = false;
  it.decoder.end(() => {
    done = true;
  });
  const later = run('gzip');
  later.decoder.push(gzipSync(TEXT));
  await later.finished();
  expect([it.text(), it.failures, done]).toEqual(['', [], false]);
});

test.each([undefined, '', 'identity', ' Identity', 'none', 'UTF-8'])(
  '%o needs no decoder',
  (coding) => {
    expect(contentDecoder(coding, { decoded() {}, failed() {} })).toBe('identity');
  },
);

test.each(['aws-chunked', 'gzip, br'])('%s is not supported', (coding) => {
  expect(contentDecoder(coding, { decoded() {}, failed() {} })).toBe('unsupported');
});
