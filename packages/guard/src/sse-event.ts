import { encodeSseFrame, SseScanner } from '@sameriver/core';

/** One event of an event stream, as its consumer gets it. */
export interface SseEvent {
  /** The id that this event carries itself. */
  readonly id: string | undefined;
  /** The id in force: this event's or the last one before it; empty for none. */
  readonly lastEventId: string;
  /** `message` where the stream names no other. */
  readonly event: string;
  readonly data: string;
}

/** What a stream is made of; of comments the first one, which may carry evidence. */
export type SsePart =
  | { readonly kind: 'event'; readonly event: SseEvent }
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'comment'; readonly text: string };

/** Reads the bytes of one event stream. */
export class SseReader {
  #parts: SsePart[] = [];
  readonly #scanner: SseScanner = new SseScanner(
    {
      event: (scanner) => {
        const { hasId, lastEventId, eventName, data = '' } = scanner;
        const id = hasId ? lastEventId : undefined;
        const event = { id, lastEventId, event: eventName || 'message', data };
        this.#parts.push({ kind: 'event', event });
      },
      idOnly: ({ lastEventId }) => this.#parts.push({ kind: 'id', id: lastEventId }),
      comment: (text) => this.#parts.push({ kind: 'comment', text }),
    },
    // An event that is cut short would be applied as another one.
    { keep: true, payload: 'none', maxData: Number.MAX_SAFE_INTEGER },
  );

  /** The reconnection time that the stream set last, in milliseconds. */
  get retry(): number | undefined {
    return this.#scanner.retry;
  }

  /** @returns What these bytes completed. */
  read(bytes: Uint8Array): readonly SsePart[] {
    this.#scanner.push(bytes);
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }
}

/** The part as it stands on the wire. @param retry Milliseconds, to be told with it. */
export function encodePart(part: SsePart, retry?: number): string {
  const told = retry === undefined ? {} : { retry };
  switch (part.kind) {
    case 'comment':
      return encodeSseFrame({ comment: part.text, ...told });
    case 'id':
      return encodeSseFrame({ id: part.id, ...told });
    case 'event': {
      const { id, event, data } = part.event;
      return encodeSseFrame({
        ...(event !== 'message' && { event }),
        ...(id !== undefined && { id }),
        ...told,
        data,
      });
    }
  }
}
