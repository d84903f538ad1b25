import { SseScanner } from './scanner.ts';
import type { SseScannerOptions, SseSink } from './sink.ts';

/** A stream that reads with a scanner. */
export interface ScannerHolder {
  /** @returns its scanner, if that is idle, and has none from then on. */
  yieldScanner(): SseScanner | undefined;
}

/**
 * Lends a scanner to streams until another one reads. Most chunks end where a block ends, and there
 * all that a stream with integer ids has to keep is a number: a thousand of them are read with one
 * scanner instead of 300 bytes each.
 */
export class SpareScanner {
  /** Who reads, or read last. */
  holder: ScannerHolder | undefined;
  #spare: SseScanner | undefined;
  readonly #options: SseScannerOptions;

  /** @param options of all of them; they keep no text at first. */
  constructor(options: SseScannerOptions) {
    this.#options = options;
  }

  /** A scanner at the first byte of a stream. */
  begin(sink: SseSink): SseScanner {
    const scanner = this.#take(sink);
    scanner.begin(sink);
    return scanner;
  }

  /** A scanner for a stream that gave back its own when its last id was `idNumber`. */
  resume(sink: SseSink, idNumber: number): SseScanner {
    const scanner = this.#take(sink);
    scanner.resume(sink, idNumber);
    return scanner;
  }

  /** Call before each chunk of a stream that is not the holder: the one before it gives up what it can. */
  pass(to: ScannerHolder): void {
    this.#spare = this.holder?.yieldScanner() ?? this.#spare;
    this.holder = to;
  }

  #take(sink: SseSink): SseScanner {
    const scanner = this.#spare ?? new SseScanner(sink, this.#options);
    this.#spare = undefined;
    return scanner;
  }
}
