import { SseBlock } from './block.ts';
import type { BoundedBytes } from './bounded-bytes.ts';
import { COMMENT, CutLine, DATA, EVENT, ID, IGNORED, RETRY } from './cut-line.ts';
import { firstControl, isLineEnd, startsData, startsId, valueAfter } from './line-bytes.ts';
import { indexOfByte } from './native-bytes.ts';
import type { SseScannerOptions, SseSink } from './sink.ts';
import { decodeUtf8, encodeUtf8, giveBack } from './utf8.ts';

const LF = 10;
const CR = 13;
const COLON = 58;

// Where the last chunk ended.
const AT_START = 0; // of a line
const AFTER_CR = 1; // at a start too, where an LF still belongs to the line before (S1)
const IN_LINE = 2;
const AT_STREAM_START = 3; // and one, two further on: after as many bytes of a byte order mark
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

const ROOM_FOR_NAME = 7; // bytes of 'data: ' and one more
const SHORT = 48; // bytes walked by hand before a native search is worth its 30 to 40 ns
const LONG = 256; // UTF-16 units from which a CR is searched for in text, and not in its bytes
const COMMENT_LIMIT = 2048; // UTF-16 units

/**
 * Reads an event stream in passing and tells the sink where events end and which ids they carry
 * (S1 to S8). Nothing is allocated per event unless text is kept. A sink that throws leaves the
 * scanner in the middle of a chunk: give the scanner up then.
 */
export class SseScanner extends SseBlock {
  #sink: SseSink;
  #state: number = AT_STREAM_START;
  #cut: CutLine | undefined = undefined;
  // Where the next CR and LF of this chunk are; below the place asked for: not looked up yet. Without
  // both, many lines with ends of one kind would each have the rest of the chunk searched for the other.
  #nextCr = -1;
  #nextLf = -1;
  #awaitsComment: boolean;
  #reading = false; // a chunk; for good when a sink threw

  constructor(sink: SseSink, options: SseScannerOptions = {}) {
    super(options);
    this.#sink = sink;
    this.#awaitsComment = sink.comment !== undefined;
  }

  /** Takes the next bytes of the stream. They are not referred to after the call. */
  push(bytes: Uint8Array): void {
    this.#scan(bytes, bytes.length, -1);
  }

  /** Takes text that goes out as UTF-8. Text and bytes may alternate on one stream. */
  pushString(text: string): void {
    // The search flattens a rope in native code; the encoder would do it at twice the cost.
    const hasLf = text.indexOf('\n') >= 0;
    const mayHaveCr = (hasLf && text.length < LONG) || text.indexOf('\r') >= 0;
    if (!hasLf && !mayHaveCr && this.#state === IN_LINE && this.#cut?.kind === IGNORED) return;
    for (let from = 0; from < text.length; ) {
      const piece = encodeUtf8(text, from);
      this.#scan(piece.bytes, piece.length, mayHaveCr ? -1 : piece.length);
      from = piece.next;
      giveBack(piece);
    }
  }

  /** Ends the stream: an event whose blank line has not come is not delivered (S4). */
  end(): void {
    this.#state = AT_START;
    this.#cut = undefined;
    this.drop();
    this.clearBlock();
  }

  /** Between two blocks, where `idNumber` is all there is to keep: another stream may be read. */
  get isIdle(): boolean {
    if (this.#reading || this.#state !== AT_START || this.keepsText) return false;
    return this.isBetween && this.idNumber >= 0;
  }

  /** New or idle: reads a stream from its first byte on. */
  begin(sink: SseSink): void {
    this.#sink = sink;
    this.#state = AT_STREAM_START;
    this.#awaitsComment = sink.comment !== undefined;
    this.forgetId();
  }

  /**
   * New or idle: reads on in a stream where `isIdle` held, without its `retry` and its comments.
   * @param idNumber as it was then.
   */
  resume(sink: SseSink, idNumber: number): void {
    this.#sink = sink;
    this.#state = AT_START;
    this.#awaitsComment = false;
    this.restoreId(idNumber);
  }

  /** Keeps text, or not, from the next block on; called by a sink, from the next event on. */
  setKeep(keep: boolean): void {
    this.keepNext(keep, this.#state !== IN_LINE);
  }

  #scan(bytes: Uint8Array, end: number, nextCr: number): void {
    this.#reading = true;
    this.#nextCr = nextCr;
    this.#nextLf = -1;
    let at = this.#state === AT_START ? 0 : this.#resume(bytes, end);
    while (at < end) {
      const first = bytes[at] as number;
      const hasRoom = end - at >= ROOM_FOR_NAME;
      if (isLineEnd(first)) {
        this.#endBlock();
        at = first === LF ? at + 1 : this.#afterCr(bytes, at + 1, end);
      } else if (first === 0x64 && hasRoom && startsData(bytes, at)) {
        at = this.#readData(bytes, valueAfter(bytes, at + 4), end);
      } else if (first === 0x69 && hasRoom && startsId(bytes, at)) {
        at = this.#readId(bytes, at, end);
      } else at = this.#readLine(bytes, at, end);
    }
    this.endChunk();
    this.#reading = false;
  }

  #readData(bytes: Uint8Array, from: number, end: number): number {
    const lineEnd = this.#lineEnd(bytes, from, end);
    if (lineEnd === end) {
      this.#beginCut(DATA).skipName();
      this.takeData(bytes, from, end);
      return end;
    }
    this.takeDataLine(bytes, from, lineEnd);
    const next = lineEnd + 1;
    if (bytes[lineEnd] !== LF) return this.#afterCr(bytes, next, end);
    if (next === end || bytes[next] !== LF) return next;
    this.#endBlock(); // the blank line mostly follows: to look for it here saves a round
    return next + 1;
  }

  #readId(bytes: Uint8Array, at: number, end: number): number {
    const from = valueAfter(bytes, at + 2);
    let lineEnd = this.takeInteger(bytes, from, end); // finds the end itself, as most ids are such
    if (lineEnd < 0) {
      const near = end - from > SHORT ? from + SHORT : end;
      lineEnd = firstControl(bytes, from, near);
      const isPlain = lineEnd < near && isLineEnd(bytes[lineEnd] as number);
      if (!isPlain) return this.#readLine(bytes, at, end); // long, cut, or perhaps with NUL
      this.takePlainId(bytes, from, lineEnd);
    }
    return bytes[lineEnd] === LF ? lineEnd + 1 : this.#afterCr(bytes, lineEnd + 1, end);
  }

  #readLine(bytes: Uint8Array, at: number, end: number): number {
    const lineEnd = this.#lineEnd(bytes, at, end);
    if (lineEnd === end) {
      this.#beginCut(this.#kindOf(bytes[at] as number));
      this.#readPart(bytes, at + 1, end);
      return end;
    }
    this.#takeLine(bytes, at, lineEnd);
    return bytes[lineEnd] === LF ? lineEnd + 1 : this.#afterCr(bytes, lineEnd + 1, end);
  }

  // Continues where the last chunk ended; returns where the next line starts.
  #resume(bytes: Uint8Array, end: number): number {
    if (end === 0) return 0;
    if (this.#state === AFTER_CR) {
      this.#state = AT_START;
      return bytes[0] === LF ? 1 : 0;
    }
    const at = this.#state === IN_LINE ? 0 : this.#skipByteOrderMark(bytes, end);
    if (this.#state !== IN_LINE) return at;
    const isLong = end - at > SHORT; // the rest of a cut line mostly fills its chunk
    const lineEnd = isLong ? this.#search(bytes, at, end) : this.#lineEnd(bytes, at, end);
    this.#readPart(bytes, at, lineEnd);
    if (lineEnd === end) return end;
    this.#endCut();
    return bytes[lineEnd] === LF ? lineEnd + 1 : this.#afterCr(bytes, lineEnd + 1, end);
  }

  // S2. Two thirds of a mark are the start of a line like any other, and of no field.
  #skipByteOrderMark(bytes: Uint8Array, end: number): number {
    let matched = this.#state - AT_STREAM_START;
    let at = 0;
    for (; at < end && bytes[at] === BYTE_ORDER_MARK[matched]; at += 1) matched += 1;
    if (at < end && matched > 0 && matched < BYTE_ORDER_MARK.length) this.#beginCut(IGNORED);
    else if (at === end && matched < BYTE_ORDER_MARK.length)
      this.#state = AT_STREAM_START + matched;
    else this.#state = AT_START;
    return at;
  }

  // A line that lies in this chunk as a whole, so that its end stops any comparison.
  #takeLine(bytes: Uint8Array, at: number, lineEnd: number): void {
    if (startsData(bytes, at)) this.takeDataLine(bytes, valueAfter(bytes, at + 4), lineEnd);
    else if (startsId(bytes, at)) this.takeId(bytes, valueAfter(bytes, at + 2), lineEnd);
    else {
      const kind = this.#kindOf(bytes[at] as number);
      if (kind !== IGNORED) {
        this.#beginCut(kind);
        this.#readPart(bytes, at + 1, lineEnd);
        this.#endCut();
      } else this.passLine();
    }
  }

  #kindOf(first: number): number {
    if (first === 0x64) return DATA;
    if (first === 0x69) return ID;
    if (first === 0x72) return RETRY;
    if (first === 0x65) return this.keepsText ? EVENT : IGNORED;
    return first === COLON && this.#awaitsComment ? COMMENT : IGNORED;
  }

  #beginCut(kind: number): CutLine {
    this.#state = IN_LINE;
    this.#cut ??= new CutLine();
    this.#cut.begin(kind);
    return this.#cut;
  }

  // Takes bytes[from..to), in which no line ends, as the next part of the line at hand.
  #readPart(bytes: Uint8Array, from: number, to: number): void {
    const cut = this.#cut as CutLine;
    const valueAt = cut.readName(bytes, from, to);
    if (valueAt === to || cut.kind === IGNORED) return;
    if (cut.kind === DATA) this.takeData(bytes, valueAt, to);
    else cut.value.append(bytes, valueAt, to);
  }

  #endCut(): void {
    const { value, whole: kind } = this.#cut as CutLine;
    this.#state = AT_START;
    if (kind === DATA) this.endDataLine();
    else if (kind === IGNORED) this.passLine();
    else if (kind === COMMENT) this.#giveComment(value);
    else this.takeField(kind, value.bytes, value.length);
    value.clear();
  }

  #giveComment(value: BoundedBytes): void {
    this.passLine();
    this.#awaitsComment = false;
    const text = decodeUtf8(value.bytes, 0, Math.min(value.length, value.limit));
    this.#sink.comment?.(text.slice(0, COMMENT_LIMIT));
  }

  // Where the line ends that reaches at least to `from`; `end` if that is not in this chunk.
  #lineEnd(bytes: Uint8Array, from: number, end: number): number {
    const near = end - from > SHORT ? from + SHORT : end;
    let at = firstControl(bytes, from, near);
    while (at < near && !isLineEnd(bytes[at] as number)) at = firstControl(bytes, at + 1, near);
    return at < near || at === end ? at : this.#search(bytes, at, end);
  }

  #search(bytes: Uint8Array, from: number, end: number): number {
    if (this.#nextCr < from) this.#nextCr = find(bytes, CR, from, end);
    if (this.#nextLf < from) this.#nextLf = find(bytes, LF, from, end);
    return Math.min(this.#nextCr, this.#nextLf);
  }

  // Where the next line starts behind a CR: an LF belongs to it, which may come with the next chunk.
  #afterCr(bytes: Uint8Array, next: number, end: number): number {
    if (next < end) return bytes[next] === LF ? next + 1 : next;
    this.#state = AFTER_CR;
    return end;
  }

  #endBlock(): void {
    this.commitId();
    if (this.hasData) this.#sink.event(this);
    else if (this.hasId) this.#sink.idOnly?.(this);
    this.clearBlock();
  }
}

// At or behind `end` if there is none: behind it in text, where a CR stands at `end` itself.
function find(bytes: Uint8Array, value: number, from: number, end: number): number {
  const at = indexOfByte(bytes, value, from);
  return at < 0 ? end : at;
}
