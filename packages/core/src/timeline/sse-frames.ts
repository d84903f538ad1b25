import { frameTagOf } from '../frame-tag.ts';
import { JsonMessage, splitMessages } from '../messages.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { SseFields, Subject } from '../profile/place.ts';
import type { SseScanner } from '../sse/scanner.ts';
import { Frame } from './frame.ts';

export interface SseFrame {
  readonly frame: Frame;
  readonly payloadTag: number;
}

/** One event as the messages that its profile finds in it: mostly one, which is the event itself. */
export function framesOf(
  scanner: SseScanner,
  { messages }: CompiledProfile,
  subject: Subject,
): SseFrame[] {
  const { data } = scanner;
  const sse: SseFields = {
    id: scanner.hasId ? scanner.lastEventId : undefined,
    event: scanner.eventName || 'message',
    data,
  };
  if (messages === 'sse' || messages === 'json' || data === undefined) {
    const frame = new Frame(subject, new JsonMessage(data ?? ''), sse);
    if (scanner.hasId) frame.idTag = scanner.idTag;
    return [{ frame, payloadTag: scanner.payloadTag }];
  }
  return splitMessages(messages, data).map((message) => ({
    frame: new Frame(subject, message, sse),
    payloadTag: frameTagOf(message.text),
  }));
}
