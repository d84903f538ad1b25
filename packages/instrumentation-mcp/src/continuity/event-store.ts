/**
 * The `EventStore` of the MCP SDKs for TypeScript, 1.x and 2.x, as far as it is used here. Stated
 * here because an instrumentation brings no SDK; the stores of both fit.
 */
export interface EventStore<Message extends object = object> {
  storeEvent(streamId: string, message: Message): Promise<string>;
  /** `undefined`: no such event. The SDKs then refuse the request with 400. */
  getStreamIdForEventId?(eventId: string): Promise<string | undefined>;
  replayEventsAfter(lastEventId: string, options: ReplayOptions<Message>): Promise<string>;
}

export interface ReplayOptions<Message extends object = object> {
  send: (eventId: string, message: Message) => Promise<void>;
}

/** A priming event: it carries an id and nothing else, and is no message. */
export function isPriming(message: object): boolean {
  return Object.keys(message).length === 0;
}

const STANDALONE = '_GET_stream';
const ALIAS = 'GET.stream';

/**
 * Stores that keep the stream inside the event id, as the example of the SDK does, read it back up
 * to the first `_`: of the standalone stream that is nothing, so that it could never be resumed.
 * Under this name it can.
 */
export function aliasOf(streamId: string): string {
  return streamId === STANDALONE ? ALIAS : streamId;
}

export function streamIdOf(alias: string): string {
  return alias === ALIAS ? STANDALONE : alias;
}
