// The runtime's own search and copy, where a Buffer lends them. On lines over a hundred bytes
// Uint8Array.prototype.indexOf takes 20 times as long as Buffer's, and a view made only to copy a
// part is 105 bytes of garbage. Browsers and workers get the same results, slower.

/** A Buffer, as far as it is needed here. */
export interface NativeBuffer extends Uint8Array {
  write(text: string): number;
}

interface BufferMethods {
  indexOf(value: number, from: number): number;
  copy(target: Uint8Array, targetStart: number, start: number, end: number): number;
  compare(
    target: Uint8Array,
    targetStart: number,
    targetEnd: number,
    start: number,
    end: number,
  ): number;
}

interface BufferClass {
  allocUnsafeSlow(size: number): NativeBuffer;
  readonly prototype: BufferMethods;
}

// Bundlers put imitations of Buffer into browsers, whose methods refuse a plain Uint8Array.
function usable(candidate: BufferClass | undefined): BufferClass | undefined {
  if (candidate === undefined) return undefined;
  try {
    const { indexOf, copy, compare } = candidate.prototype;
    const bytes = Uint8Array.of(1, 2);
    const searches = indexOf.call(bytes, 2, 0) === 1;
    const copies = copy.call(bytes, Uint8Array.of(0), 0, 1, 2) === 1;
    const compares = compare.call(bytes, bytes, 0, 2, 0, 2) === 0;
    return searches && copies && compares && candidate.allocUnsafeSlow(4).write('é') === 2
      ? candidate
      : undefined;
  } catch {
    return undefined;
  }
}

/** Node's Buffer, or what a runtime offers in its place, when its methods take any Uint8Array. */
export const nativeBuffer: BufferClass | undefined = usable(
  (globalThis as { Buffer?: BufferClass }).Buffer,
);

const copy = nativeBuffer?.prototype.copy;
const compare = nativeBuffer?.prototype.compare;
const search: (value: number, from: number) => number =
  nativeBuffer?.prototype.indexOf ?? Uint8Array.prototype.indexOf;

/** Where `value` stands in `bytes` at or after `from`; -1 when it does not. */
export function indexOfByte(bytes: Uint8Array, value: number, from: number): number {
  return search.call(bytes, value, from);
}

/** Copies bytes[from..to) to the start of `target`, which must have room for them. */
export function copyBytes(bytes: Uint8Array, target: Uint8Array, from: number, to: number): void {
  if (copy === undefined) target.set(bytes.subarray(from, to));
  else copy.call(bytes, target, 0, from, to);
}

/** Whether `whole`, which is no shorter, begins with bytes[from..to). */
export function startsWith(
  whole: Uint8Array,
  bytes: Uint8Array,
  from: number,
  to: number,
): boolean {
  if (compare !== undefined) return compare.call(bytes, whole, 0, to - from, from, to) === 0;
  let at = from;
  while (at < to && bytes[at] === whole[at - from]) at += 1;
  return at === to;
}
