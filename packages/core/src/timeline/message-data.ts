import { binaryMessages } from '../binary-messages.ts';
import type { MessageData } from '../connection.ts';
import { frameTagOf } from '../frame-tag.ts';
import { jsonText } from '../json.ts';
import type { BinaryDecoder, Message } from '../messages.ts';
import { splitMessages } from '../messages.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import { resolvePointer } from '../profile/place.ts';
import type { MessageFormat } from '../profile/profile.ts';

const UNREADABLE: Message = { value: undefined, text: '' };

/** What one frame splits into, for the formats that were asked for already. */
export type Split = Map<MessageFormat, readonly Message[]>;

/**
 * What one WebSocket message says under a profile; one that nothing decodes says nothing.
 * @param split Of this frame: several profiles share a format.
 */
export function messagesIn(
  data: MessageData,
  profile: CompiledProfile,
  decodeBinary: BinaryDecoder | undefined,
  split?: Split,
): readonly Message[] {
  const messages = split?.get(profile.messages) ?? decoded(data, profile, decodeBinary);
  split?.set(profile.messages, messages);
  if (profile.members === undefined) return messages;
  return messages.flatMap((message) => [message, ...membersOf(profile, message)]);
}

function decoded(
  data: MessageData,
  { messages }: CompiledProfile,
  decodeBinary: BinaryDecoder | undefined,
): readonly Message[] {
  if (typeof data === 'string') return splitMessages(messages, data);
  if (data === undefined) return [UNREADABLE];
  // An attachment belongs to the packet before it.
  if (messages === 'engine.io') return [];
  return binaryMessages(messages, data, decodeBinary) ?? [UNREADABLE];
}

/** What one message says of several streams, as a message for each. */
function membersOf({ members }: CompiledProfile, { value }: Message): Message[] {
  const [object] = members === undefined ? [] : resolvePointer(value, members.of.pointer);
  if (members === undefined || typeof object !== 'object' || object === null) return [];
  return Object.entries(object).map(([name, member]: [string, object]) => {
    const own = { [members.as]: { ...member, [members.name]: name } };
    return { value: own, text: jsonText(own) };
  });
}

/**
 * A frame that nothing decodes is identified by its bytes, any other message by its own text.
 * @returns 0 for a message that cannot be looked into.
 */
export function messageTagOf(message: Message, data: MessageData): number {
  if (message !== UNREADABLE) return frameTagOf(message.text);
  return data === undefined ? 0 : frameTagOf(data);
}
