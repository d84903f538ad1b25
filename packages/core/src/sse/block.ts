import { EVENT, ID, RETRY } from './cut-line.ts';
import { finishHash, mixWord, NO_LINES } from './hash32.ts';
import { KeptText } from './kept-text.ts';
import { LastEventId } from './last-event-id.ts';
import { digitsValue } from './line-bytes.ts';
import { hashLine, LineHash } from './line-hash.ts';
import type { SseScannerOptions } from './sink.ts';
import { decodeUtf8 } from './utf8.ts';

const DEFAULT_MAX_DATA = 65_536; // UTF-16 units
const FIELD_LIMIT = 4096; // bytes of an event's name and of a reconnection time
const NO_DATA = -1;

/** What is known of the block that a scanner reads: the meaning of its fields, without the framing. */
export class SseBlock {
  readonly #id: LastEventId = new LastEventId();
  readonly #hashes: boolean;
  #payload = NO_LINES;
  #cutLine: LineHash | undefined = undefined;
  readonly #maxData: number;
  #kept: KeptText | undefined;
  #keepNext: boolean;
  #dataLength: number = NO_DATA; // grows by one for each line's end
  #hasId = false;
  #otherLines = false; // whether the block has lines that are neither data nor id
  #retry: number | undefined = undefined;
  #oversizedIds = 0;

  protected constructor(options: SseScannerOptions) {
    const { payload = 'hash', keep = false, maxData = DEFAULT_MAX_DATA } = options;
    this.#hashes = payload === 'hash';
    this.#maxData = maxData;
    this.#keepNext = keep;
    this.#kept = keep ? new KeptText(maxData) : undefined;
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

  /** An integer below 2^31 that is equal for equal committed ids; 0 while there has been no id. */
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
    return this.hasData ? this.#dataLength : 0;
  }

  /** An integer in 1..2^31-1 that is equal for equal data, however it was cut; 0 if there is none. */
  get payloadTag(): number {
    return this.hasData && this.#hashes ? finishHash(this.#payload) : 0;
  }

  /** The data, while text is kept and the data is not longer than `maxData`. */
  get data(): string | undefined {
    return this.hasData ? this.#kept?.data : undefined;
  }

  /** The event's name while text is kept; `''` for none and for one of more than 4,096 bytes. */
  get eventName(): string {
    return this.#kept?.name ?? '';
  }

  /** The reconnection time that the stream set last, in ms (S5). */
  get retry(): number | undefined {
    return this.#retry;
  }

  protected get hasData(): boolean {
    return this.#dataLength !== NO_DATA;
  }

  /** Nothing of the next block has come. */
  protected get isBetween(): boolean {
    return !this.hasData && !this.#otherLines && !this.#id.pending;
  }

  protected forgetId(): void {
    this.#id.forget();
  }

  protected restoreId(value: number): void {
    this.#id.restore(value);
  }

  protected get keepsText(): boolean {
    return this.#kept !== undefined;
  }

  /** Keeps text, or not, from the next block on, which is this one while nothing of it has come. */
  protected keepNext(keep: boolean, atLineStart: boolean): void {
    this.#keepNext = keep;
    if (atLineStart && this.isBetween) this.#switchKeeping();
  }

  /** Takes bytes[from..to) of a data line: all of its value, or the next part. */
  protected takeData(bytes: Uint8Array, from: number, to: number): void {
    this.#dataLength += to - from;
    if (this.#hashes) this.#cut().part(bytes, from, to);
    if (this.#kept !== undefined) this.#kept.append(bytes, from, to);
  }

  protected endDataLine(): void {
    if (this.#hashes) this.#addLine(this.#cut().end());
    this.#dataLength += 1;
    if (this.#kept !== undefined) this.#kept.endLine();
  }

  /** Takes a data line that lies in one chunk as a whole. */
  protected takeDataLine(bytes: Uint8Array, from: number, to: number): void {
    if (this.#hashes) this.#addLine(hashLine(bytes, from, to));
    this.#dataLength += to - from + 1;
    if (this.#kept !== undefined) {
      this.#kept.append(bytes, from, to);
      this.#kept.endLine();
    }
  }

  /** Takes an id of a few digits up to a line end; returns where that is, -1 for any other id. */
  protected takeInteger(bytes: Uint8Array, from: number, end: number): number {
    return this.#id.setInteger(bytes, from, end);
  }

  /** Takes an id that is known to be short and without control bytes. */
  protected takePlainId(bytes: Uint8Array, from: number, to: number): void {
    this.#id.setPlain(bytes, from, to);
  }

  protected takeId(bytes: Uint8Array, from: number, to: number): void {
    if (this.#id.set(bytes, from, to) === 'oversized') this.#oversizedIds += 1;
  }

  /** Takes a value of `length` bytes, of which `bytes` may hold only as many as count. */
  protected takeField(kind: number, bytes: Uint8Array, length: number): void {
    const size = length > FIELD_LIMIT ? 0 : length;
    if (kind === ID) {
      this.#id.store(); // what lies in another chunk than `bytes`
      this.takeId(bytes, 0, length);
      this.#id.store();
    } else this.#otherLines = true;
    if (kind === RETRY) {
      const value = digitsValue(bytes, 0, size); // S5
      if (value >= 0) this.#retry = Math.min(value, Number.MAX_SAFE_INTEGER);
    } else if (kind === EVENT && this.#kept !== undefined)
      this.#kept.name = decodeUtf8(bytes, 0, size);
  }

  protected passLine(): void {
    this.#otherLines = true;
  }

  /** Moves the cursor to the block's id (S4). */
  protected commitId(): void {
    this.#hasId = this.#id.commit();
  }

  /** Forgets what the block brought, but for the cursor. */
  protected clearBlock(): void {
    this.#dataLength = NO_DATA;
    this.#payload = NO_LINES;
    this.#otherLines = false;
    if (this.#keepNext || this.#kept !== undefined) this.#clearText();
  }

  /** Lets go of the chunk, whose end is reached. */
  protected endChunk(): void {
    this.#id.store();
  }

  /** Forgets the id and the cut line of a block that will not end. */
  protected drop(): void {
    this.#id.drop();
    this.#cutLine = undefined;
  }

  #cut(): LineHash {
    this.#cutLine ??= new LineHash();
    return this.#cutLine;
  }

  #addLine(hash: number): void {
    this.#payload = mixWord(this.#payload, hash);
  }

  #clearText(): void {
    this.#kept?.clear();
    this.#switchKeeping();
  }

  #switchKeeping(): void {
    if (!this.#keepNext) this.#kept = undefined;
    else this.#kept ??= new KeptText(this.#maxData);
  }
}
