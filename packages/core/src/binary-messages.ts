import { jsonText } from './json.ts';
import type { BinaryDecoder, Message } from './messages.ts';
import { MAX_PARTS, MAX_TEXT, splitMessages } from './messages.ts';
import type { MessageFormat } from './profile/profile.ts';
import { decodeUtf8 } from './sse/utf8.ts';

const OPEN_BRACE = 0x7b;
const RECORD_SEPARATOR = 0x1e;
/** A length is written in groups of seven bits, the lowest first. */
const GROUP = 7;
const LONGEST_LENGTH = 5;

/** A decoded value; its text is made when somebody compares payloads. */
class DecodedMessage implements Message {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  get text(): string {
    return jsonText(this.value);
  }
}

/**
 * The messages of one binary frame. Never throws.
 *
 * @returns `undefined` where nothing decodes it: by its format, its size or its content.
 */
export function binaryMessages(
  format: MessageFormat,
  bytes: Uint8Array,
  decode: BinaryDecoder | undefined,
): readonly Message[] | undefined {
  if (bytes.length > MAX_TEXT) return undefined;
  if (format === 'msgpack-lp') return lengthPrefixed(bytes, decode);
  if (decode === undefined || (format !== 'cbor-seq' && format !== 'msgpack')) return undefined;
  return messagesOf(decode(format, bytes));
}

function lengthPrefixed(
  bytes: Uint8Array,
  decode: BinaryDecoder | undefined,
): readonly Message[] | undefined {
  const parts = partsOf(bytes);
  if (parts !== undefined) {
    return decode && messagesOf(parts.flatMap((part) => decode('msgpack', part)));
  }
  const isHandshake = bytes[0] === OPEN_BRACE && bytes.at(-1) === RECORD_SEPARATOR;
  return isHandshake ? splitMessages('json-rs', decodeUtf8(bytes, 0, bytes.length)) : undefined;
}

/** `undefined` when the lengths do not add up to the frame. */
function partsOf(bytes: Uint8Array): Uint8Array[] | undefined {
  const parts: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length && parts.length < MAX_PARTS) {
    let length = 0;
    for (let group = 0; ; group++) {
      const byte = bytes[at++];
      if (byte === undefined || group === LONGEST_LENGTH) return undefined;
      length += (byte & 0x7f) * 2 ** (GROUP * group);
      if (byte < 0x80) break;
    }
    if (length > bytes.length - at) return undefined;
    parts.push(bytes.subarray(at, at + length));
    at += length;
  }
  return parts;
}

function messagesOf(values: readonly unknown[]): readonly Message[] | undefined {
  return values.length === 0 ? undefined : values.map((value) => new DecodedMessage(value));
}
