import { KeptText } from './kept-text.ts';
import { LastEventId } from './last-event-id.ts';
import { COMMENT, EVENT, ID, LineReader, RETRY, VALUE_LIMIT } from './line-reader.ts';
import { PayloadHash } from './payload-hash.ts';
import { decodeUtf8 } from './utf8.ts';

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

const DEFAULT_MAX_DATA = 65_536; // UTF-16 units
const COMMENT_LIMIT = 2048; // UTF-16 units
const NAME_LIMIT = 4096; // bytes
const RETRY_LIMIT = 4096; // bytes
const NO_DATA = -1;

/**
 * Reads an event stream in passing and tells the sink where events end and which ids they carry
 * (S1 to S8). Nothing is allocated per event unless text is kept. A sink that throws leaves the
 * scanner in the middle of a chunk: give the scanner up then.
 */
export class SseScanner extends LineReader {
  readonly #sink: SseSink;
  readonly #maxData: number;
  readonly #hash: PayloadHash | undefined;
  readonly #id: LastEventId = new LastEventId();
  #kept: KeptText | undefined;
  #keepNext: boolean;
  #awaitsComment: boolean;
  #dataLength: number = NO_DATA;
  #hasId = false;
  #otherLines = false; // whether this block had lines that are neither data nor id
  #retry: number | undefined = undefined;
  #oversizedIds = 0;

  constructor(sink: SseSink, options: SseScannerOptions = {}) {
    super();
    this.#sink = sink;
    this.#maxData = options.maxData ?? DEFAULT_MAX_DATA;
    this.#hash = options.payload === 'none' ? undefined : new PayloadHash();
    this.#keepNext = options.keep ?? false;
    this.#kept = this.#keepNext ? new KeptText(this.#maxData) : undefined;
    this.#awaitsComment = sink.comment !== undefined;
  }

  /** Whether this block carried a valid id of its own, be it an empty one (S3). */
  get hasId(): boolean {
    return this.#hasId;
  }

  /**
   * The committed id, of this block or an earlier one, as a number: `0` or up to 15 digits without a
   * leading zero; NaN for any other id and for none (S7).
   */
  get idNumber(): number {
    return this.#id.number;
  }

  /** A uint32 that is equal for equal committed ids; 0 while the stream has had no id. */
  get idTag(): number {
    return this.#id.tag;
  }

  /** Bytes of the committed id. */
  get idLength(): number {
    return this.#id.length;
  }

  /** The committed id, `''` for none. Makes a string at every read. */
  get lastEventId(): string {
    return this.#id.text;
  }

  /** How many ids were passed over because they have more than 4,096 bytes. */
  get oversizedIds(): number {
    return this.#oversizedIds;
  }

  /** UTF-8 bytes of the data, its lines joined by LF (S8). */
  get dataLength(): number {
    return this.#dataLength === NO_DATA ? 0 : this.#dataLength;
  }

  /** A uint32 above 0 that is equal for equal data, however the stream was cut; 0 if there is none. */
  get payloadTag(): number {
    return this.#dataLength === NO_DATA ? 0 : (this.#hash?.tag() ?? 0);
  }

  /** The data, while text is kept and the data is not longer than `maxData`. */
  get data(): string | undefined {
    return this.#dataLength === NO_DATA ? undefined : this.#kept?.data;
  }

  /** The event's name while text is kept; `''` for none and for one of more than 4,096 bytes. */
  get eventName(): string {
    return this.#kept?.name ?? '';
  }

  /** The reconnection time that the stream set last, in ms (S5). */
  get retry(): number | undefined {
    return this.#retry;
  }

  /** Ends the stream: an event whose blank line has not come is not delivered (S4). */
  end(): void {
    this.dropLine();
    this.#id.drop();
    this.#kept?.clear();
    this.#dataLength = NO_DATA;
    this.#otherLines = false;
  }

  /** Keeps text, or not, from the next block on; called by a sink, from the next event on. */
  setKeep(keep: boolean): void {
    this.#keepNext = keep;
    const inBlock = this.#dataLength !== NO_DATA || this.#id.pending || this.#otherLines;
    if (!inBlock && this.betweenLines()) this.#applyKeep();
  }

  #applyKeep(): void {
    if (this.#keepNext) this.#kept ??= new KeptText(this.#maxData);
    else this.#kept = undefined;
  }

  protected wants(kind: number): boolean {
    return kind === EVENT ? this.#kept !== undefined : this.#awaitsComment;
  }

  protected openData(): void {
    if (this.#dataLength === NO_DATA) {
      this.#dataLength = 0;
      this.#hash?.begin();
    } else {
      this.#dataLength += 1;
      this.#kept?.joinLine();
    }
  }

  protected takeData(bytes: Uint8Array, from: number, to: number): void {
    this.#dataLength += to - from;
    this.#hash?.part(bytes, from, to);
    this.#kept?.append(bytes, from, to);
  }

  protected closeData(): void {
    this.#hash?.endLine();
  }

  protected takeIdNumber(value: number, digits: number): void {
    this.#id.setNumber(value, digits);
  }

  protected takeField(kind: number, bytes: Uint8Array, from: number, length: number): void {
    if (kind === ID) {
      if (this.#id.set(bytes, from, length) === 'oversized') this.#oversizedIds += 1;
      return;
    }
    this.#otherLines = true;
    if (kind === RETRY) this.#setRetry(bytes, from, length);
    else if (kind === COMMENT) this.#giveComment(bytes, from, length);
    else if (this.#kept !== undefined) {
      this.#kept.name = length > NAME_LIMIT ? '' : decodeUtf8(bytes, from, from + length);
    }
  }

  protected passLine(): void {
    this.#otherLines = true;
  }

  protected endBlock(): void {
    this.#hasId = this.#id.commit();
    if (this.#dataLength !== NO_DATA) this.#sink.event(this);
    else if (this.#hasId) this.#sink.idOnly?.(this);
    this.#dataLength = NO_DATA;
    this.#otherLines = false;
    this.#kept?.clear();
    if (this.#keepNext !== (this.#kept !== undefined)) this.#applyKeep();
  }

  #setRetry(bytes: Uint8Array, from: number, length: number): void {
    if (length === 0 || length > RETRY_LIMIT) return;
    let value = 0;
    for (let i = from; i < from + length; i += 1) {
      const digit = (bytes[i] as number) - 48;
      if (digit < 0 || digit > 9) return; // S5
      value = value * 10 + digit;
    }
    this.#retry = Math.min(value, Number.MAX_SAFE_INTEGER);
  }

  #giveComment(bytes: Uint8Array, from: number, length: number): void {
    this.#awaitsComment = false;
    const text = decodeUtf8(bytes, from, from + Math.min(length, VALUE_LIMIT));
    this.#sink.comment?.(text.slice(0, COMMENT_LIMIT));
  }
}
