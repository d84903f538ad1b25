import type { MessageData } from '../connection.ts';
import { frameTagOf } from '../frame-tag.ts';
import type { BinaryDecoder, Message } from '../messages.ts';
import { splitMessages } from '../messages.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Subject } from '../profile/place.ts';
import { resolvePointer } from '../profile/place.ts';
import { withSent } from './facts.ts';
import { Frame } from './frame.ts';
import type { ProfileChoice } from './profile-choice.ts';

/** Messages held back, and their size, while the protocol of a WebSocket is not known yet. */
const HELD_MESSAGES = 16;
const HELD_SIZE = 65_536;
const UNREADABLE: Message = { value: undefined, text: '' };

export interface Exchange {
  readonly data: MessageData;
  /** Sent by this client. */
  readonly own: boolean;
}

export interface MessageSink {
  /** @param payloadTag 0 for a message that cannot be looked into. */
  received(message: Message, payloadTag: number): void;
  sent(message: Message): void;
  showSigns(see: (profile: CompiledProfile, base: Subject) => readonly Subject[]): void;
}

/**
 * WebSocket messages in their order. Until the protocol is known nobody can tell its events from
 * its control frames, so the first few are held back, bounded, and read once it is.
 */
export class Messages {
  readonly #choice: ProfileChoice;
  readonly #decodeBinary: BinaryDecoder | undefined;
  readonly #sink: MessageSink;
  #held: Exchange[] = [];
  #size = 0;

  constructor(choice: ProfileChoice, decodeBinary: BinaryDecoder | undefined, sink: MessageSink) {
    this.#choice = choice;
    this.#decodeBinary = decodeBinary;
    this.#sink = sink;
  }

  take(exchange: Exchange): void {
    if (!this.#choice.isOpen) {
      this.#read(exchange);
      return;
    }
    this.#held.push(exchange);
    this.#size += exchange.data?.length ?? 0;
    this.#sink.showSigns((profile, base) => this.#seenBy(profile, base, exchange));
    if (!exchange.own) this.#choice.frameRead();
    if (this.#held.length >= HELD_MESSAGES || this.#size > HELD_SIZE) this.#choice.giveUp();
    if (!this.#choice.isOpen) this.release();
  }

  /** Reads what was held back, as the protocol in force now. */
  release(): void {
    const held = this.#held;
    this.#held = [];
    for (const exchange of held) this.#read(exchange);
  }

  #read({ data, own }: Exchange): void {
    const messages = this.#split(data, this.#choice.profile);
    for (const message of messages) {
      if (own) this.#sink.sent(message);
      else this.#sink.received(message, tagOf(message, data));
    }
  }

  #seenBy(profile: CompiledProfile, base: Subject, { data, own }: Exchange): readonly Subject[] {
    return this.#split(data, profile).map(({ value, text }) =>
      own ? withSent(base, [value]) : Frame.of(base, value, text),
    );
  }

  #split(data: MessageData, profile: CompiledProfile): readonly Message[] {
    const messages = this.#decode(data, profile);
    if (profile.members === undefined) return messages;
    return messages.flatMap((message) => [message, ...membersOf(profile, message)]);
  }

  #decode(data: MessageData, { messages }: CompiledProfile): readonly Message[] {
    if (typeof data === 'string') return splitMessages(messages, data);
    if (data === undefined) return [UNREADABLE];
    // An attachment belongs to the packet before it.
    if (messages === 'engine.io') return [];
    const isKnown = messages === 'cbor-seq' || messages === 'msgpack';
    if (this.#decodeBinary !== undefined && isKnown) {
      return this.#decodeBinary(messages, data).map((value) => ({
        value,
        text: JSON.stringify(value) ?? '',
      }));
    }
    return [UNREADABLE];
  }
}

/** What one message says of several streams, as a message for each. */
function membersOf({ members }: CompiledProfile, { value }: Message): Message[] {
  const [object] = members === undefined ? [] : resolvePointer(value, members.of.pointer);
  if (members === undefined || typeof object !== 'object' || object === null) return [];
  return Object.entries(object).map(([name, member]: [string, object]) => {
    const own = { [members.as]: { ...member, [members.name]: name } };
    return { value: own, text: JSON.stringify(own) };
  });
}

/** A frame that nothing decodes is identified by its bytes, any other message by its own text. */
function tagOf(message: Message, data: MessageData): number {
  if (message !== UNREADABLE) return frameTagOf(message.text);
  return data === undefined ? 0 : frameTagOf(data);
}
