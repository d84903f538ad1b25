import { parseJson } from './json.ts';
import { peekMember, UNKNOWN } from './json-member.ts';
import { resolvePointer } from './profile/place.ts';
import type { MessageFormat } from './profile/profile.ts';

/** One message of a frame: its value for `json:` places, its text for identity. */
export interface Message {
  readonly value: unknown;
  readonly text: string;
  /** A member of the value; asked for before the value, it may be had without it. */
  member?(name: string): unknown;
}

/** Members that are looked up one by one before parsing the text is the better way. */
const LOOK_UPS = 3;

/** A JSON text of which only as much is read as is asked for. */
export class JsonMessage implements Message {
  readonly text: string;
  #value: unknown;
  #isParsed = false;
  #lookUps = 0;

  constructor(text: string) {
    this.text = text;
  }

  get value(): unknown {
    if (!this.#isParsed) {
      this.#value = parseJson(this.text);
      this.#isParsed = true;
    }
    return this.#value;
  }

  member(name: string): unknown {
    if (!this.#isParsed && this.#lookUps++ < LOOK_UPS) {
      const found = peekMember(this.text, name);
      if (found !== UNKNOWN) return found;
    }
    return resolvePointer(this.value, [name])[0];
  }
}

/**
 * Decodes binary formats; core has no decoder of its own.
 *
 * @returns The values of one frame, made of what JSON has, integers beyond 2^53 as text (S7); empty
 *   for what cannot be decoded. Must not throw.
 */
export type BinaryDecoder = (format: 'cbor-seq' | 'msgpack', bytes: Uint8Array) => unknown[];

/**
 * Characters, or bytes, above which a message is not looked into: a hostile one must cost bounded
 * time and memory.
 */
export const MAX_TEXT: number = 1 << 20;
export const MAX_PARTS = 1024;
const RECORD_SEPARATOR = '\u001e';

/** Splits one frame (or the data of one SSE event) into messages. Never throws. */
export function splitMessages(format: MessageFormat, text: string): readonly Message[] {
  if (text.length > MAX_TEXT) return [{ value: undefined, text }];
  switch (format) {
    case 'json-lines':
      return parts(text, '\n');
    // Its handshake is text, as in the protocol's other encoding.
    case 'msgpack-lp':
    case 'json-rs':
      return parts(text, RECORD_SEPARATOR);
    case 'engine.io':
      return text
        .split(RECORD_SEPARATOR, MAX_PARTS)
        .filter((packet) => packet !== '')
        .map((packet) => ({ value: engineIoPacket(packet), text: packet }));
    case 'none':
    case 'cbor-seq':
    case 'msgpack':
      return [{ value: undefined, text }];
    default:
      return [new JsonMessage(text)];
  }
}

function parts(text: string, separator: string): Message[] {
  return text
    .split(separator, MAX_PARTS)
    .filter((part) => part.trim() !== '')
    .map((part) => ({ value: parseJson(part), text: part }));
}

/** Engine.IO type digit; a message (4) holds a Socket.IO packet: `42/admin,7["event",1]`. */
function engineIoPacket(text: string): unknown {
  const type = Number(text[0]);
  if (!Number.isInteger(type)) return undefined;
  if (type !== 4) return { type, data: parseJson(text.slice(1)) };
  const match = /^4(\d)(?:\d+-)?(?:(\/[^,]*),)?(\d+)?(.*)$/s.exec(text);
  if (match === null) return { type };
  const [, kind, nsp = '/', id, rest = ''] = match;
  const data = rest === '' ? undefined : parseJson(rest);
  return { type, packet: { type: Number(kind), nsp, ...(id && { id: Number(id) }), data } };
}
