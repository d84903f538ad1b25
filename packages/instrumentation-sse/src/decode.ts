import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';

/**
 * `malformed`: the bytes are not what `Content-Encoding` says. `overflow`: more compressed bytes
 * wait than the tap may hold, or they unfold to more than it may read.
 */
export type DecodeFailure = 'malformed' | 'overflow';

/** Neither method may throw: both run inside callbacks of a zlib stream. */
export interface DecoderSink {
  /** Decoded bytes, in order; valid during the call only. */
  decoded(bytes: Uint8Array): void;
  /** At most once; nothing is decoded after it. */
  failed(failure: DecodeFailure): void;
}

/** A decoder that runs beside the application's stream and never holds it up. */
export interface Decoder {
  /** Copies `bytes`: they are decoded later, when the application may have reused its buffer. */
  push(bytes: Uint8Array): void;
  /** Calls back once all that was pushed has reached the sink; at once after a failure. */
  end(done: () => void): void;
  /** Drops what is pending; the sink hears nothing more. */
  stop(): void;
}

export interface DecoderLimits {
  /** Compressed bytes that may wait for the thread pool. */
  readonly pendingBytes: number;
  /** Decoded bytes that any stream may yield, however few it came from. */
  readonly freeBytes: number;
  /** Decoded bytes allowed on top for each compressed byte. */
  readonly expansion: number;
}

// A server that flushes each event seldom gets beyond 20:1. The limits leave room above that and
// stop a bomb before it has cost a second of CPU that the application would not have spent.
const LIMITS: DecoderLimits = {
  pendingBytes: 1024 * 1024,
  freeBytes: 16 * 1024 * 1024,
  expansion: 256,
};

type Codec = (first: Uint8Array) => Transform;

// A stream that is cut is no error of the decoder: what arrived is flushed, as browsers do it.
const ZLIB = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
};
const ZSTD = { flush: constants.ZSTD_e_flush, finishFlush: constants.ZSTD_e_flush };
const gunzip: Codec = () => createGunzip(ZLIB);

const CODECS: ReadonlyMap<string, Codec> = new Map<string, Codec>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  // "deflate" is zlib-wrapped by the RFC and raw on some servers: the first byte tells them apart.
  [
    'deflate',
    ([first]) => (((first ?? 8) & 15) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB)),
  ],
  ['br', () => createBrotliDecompress(BROTLI)],
  ['zstd', () => createZstdDecompress(ZSTD)],
]);

// Names that change nothing: `none` is a common plea to proxies not to buffer (graphql-sse sends it),
// the others are misunderstandings. Clients pass such bodies through.
const NO_CODING: ReadonlySet<string> = new Set([
  '',
  'identity',
  'none',
  'utf-8',
  'utf8',
  'chunked',
]);

class StreamDecoder implements Decoder {
  readonly #codec: Codec;
  readonly #sink: DecoderSink;
  readonly #limits: DecoderLimits;
  #stream: Transform | undefined;
  #pending = 0;
  #allowance: number;
  #done: (() => void) | undefined;
  #state: 'running' | 'failed' | 'stopped' = 'running';

  constructor(codec: Codec, sink: DecoderSink, limits: DecoderLimits) {
    this.#codec = codec;
    this.#sink = sink;
    this.#limits = limits;
    this.#allowance = limits.freeBytes;
  }

  push(bytes: Uint8Array): void {
    if (this.#state !== 'running' || bytes.byteLength === 0) return;
    const size = bytes.byteLength;
    this.#pending += size;
    this.#allowance += size * this.#limits.expansion;
    if (this.#pending > this.#limits.pendingBytes) {
      this.#fail('overflow');
      return;
    }
    this.#stream ??= this.#start(bytes);
    this.#stream.write(Buffer.from(bytes), () => {
      this.#pending -= size;
    });
  }

  end(done: () => void): void {
    if (this.#state === 'stopped') return;
    if (this.#stream === undefined || this.#state === 'failed') {
      done();
      return;
    }
    this.#done = done;
    this.#stream.end();
  }

  stop(): void {
    this.#state = 'stopped';
    this.#done = undefined;
    this.#stream?.destroy();
  }

  #start(first: Uint8Array): Transform {
    const stream = this.#codec(first);
    stream.on('data', (bytes: Uint8Array) => this.#decoded(bytes));
    stream.on('error', () => this.#fail('malformed'));
    stream.on('end', () => this.#done?.());
    return stream;
  }

  #decoded(bytes: Uint8Array): void {
    if (this.#state !== 'running') return;
    this.#allowance -= bytes.byteLength;
    if (this.#allowance < 0) this.#fail('overflow');
    else this.#sink.decoded(bytes);
  }

  #fail(failure: DecodeFailure): void {
    if (this.#state !== 'running') return;
    this.#state = 'failed';
    this.#stream?.destroy();
    this.#sink.failed(failure);
    this.#done?.();
  }
}

/**
 * Decodes a response body for the tap alone. The work is done in zlib's thread pool.
 *
 * @param contentEncoding Value of the `Content-Encoding` header, `undefined` where there is none.
 * @returns `identity` when there is nothing to decode, `unsupported` for codings that are unknown
 *   or stacked.
 */
export function contentDecoder(
  contentEncoding: string | undefined,
  sink: DecoderSink,
  limits: DecoderLimits = LIMITS,
): Decoder | 'identity' | 'unsupported' {
  const coding = (contentEncoding ?? '').trim().toLowerCase();
  if (NO_CODING.has(coding)) return 'identity';
  const codec = CODECS.get(coding);
  return codec === undefined ? 'unsupported' : new StreamDecoder(codec, sink, limits);
}
