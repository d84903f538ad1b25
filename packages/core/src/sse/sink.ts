import type { SseScanner } from './scanner.ts';

/** What happens on a stream. The scanner's fields hold inside the call only. */
export interface SseSink {
  /** A block with at least one data line ended. */
  event(scanner: SseScanner): void;
  /** A block without data ended, and its id moved the cursor (S4). */
  idOnly?(scanner: SseScanner): void;
  /** The first comment line of the stream without its colon: its first 2,048 UTF-16 units. */
  comment?(text: string): void;
}

export interface SseScannerOptions {
  /** `hash` (default) computes `payloadTag`; `none` leaves it 0 and skips the data natively. */
  payload?: 'hash' | 'none';
  /** Keeps each event's data and name as text, for `data` and `eventName`. Off by default. */
  keep?: boolean;
  /** Longest data that is kept, in UTF-16 units; 65,536 by default. */
  maxData?: number;
}
