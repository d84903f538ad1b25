import { SseScanner } from './scanner.ts';
import type { SseScannerOptions, SseSink } from './sink.ts';

/**
 * Lends a scanner to streams while they read a chunk. Most chunks end where a block ends, and there
 * all that a stream with integer ids has to keep is a number: a thousand of them are read with one
 * scanner instead of 300 bytes each.
 */
export class SpareScanner {
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

  /** @param scanner idle, and used by nobody any more. */
  giveBack(scanner: SseScanner): void {
    this.#spare = scanner;
  }

  // Out of its place while in use: a sink may cause another stream to be read meanwhile.
  #take(sink: SseSink): SseScanner {
    const scanner = this.#spare ?? new SseScanner(sink, this.#options);
    this.#spare = undefined;
    return scanner;
  }
}
