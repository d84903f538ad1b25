import type { MessageData } from '../connection.ts';
import type { BinaryDecoder, Message } from '../messages.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Subject } from '../profile/place.ts';
import { withSent } from './facts.ts';
import { Frame } from './frame.ts';
import type { Split } from './message-data.ts';
import { messagesIn, messageTagOf } from './message-data.ts';
import type { ProfileChoice } from './profile-choice.ts';

/** Messages held back, and their size, while the protocol of a WebSocket is not known yet. */
const HELD_MESSAGES = 16;
const HELD_SIZE = 65_536;

/** Which protocol the messages are read as. */
export type Protocol = Pick<ProfileChoice, 'profile' | 'isOpen' | 'frameRead' | 'giveUp'>;

export interface Exchange {
  readonly data: MessageData;
  /** Sent by the client. */
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
  readonly #choice: Protocol;
  readonly #decodeBinary: BinaryDecoder | undefined;
  readonly #sink: MessageSink;
  #held: Exchange[] = [];
  #size = 0;

  constructor(choice: Protocol, decodeBinary: BinaryDecoder | undefined, sink: MessageSink) {
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
    const split: Split = new Map();
    this.#sink.showSigns((profile, base) => this.#seenBy(profile, base, exchange, split));
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
    const messages = messagesIn(data, this.#choice.profile, this.#decodeBinary);
    for (const message of messages) {
      if (own) this.#sink.sent(message);
      else this.#sink.received(message, messageTagOf(message, data));
    }
  }

  #seenBy(
    profile: CompiledProfile,
    base: Subject,
    { data, own }: Exchange,
    split: Split,
  ): readonly Subject[] {
    return messagesIn(data, profile, this.#decodeBinary, split).map((message) =>
      own ? withSent(base, [message.value]) : new Frame(base, message),
    );
  }
}
