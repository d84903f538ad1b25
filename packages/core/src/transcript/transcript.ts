import type { ConnectionEnd, Transport } from '../connection.ts';
import type { Profile } from '../profile/profile.ts';
import type { Identity } from '../timeline/engine.ts';
import type { Classification, Count } from '../verdict.ts';

/** One SSE event, comment or `retry` field, or raw bytes where the framing itself is the point. */
interface SseFrame {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly comment?: string;
  readonly retry?: number;
  readonly raw?: string;
}

interface WebSocketFrame {
  readonly recv?: string;
  readonly recvBase64?: string;
  readonly sent?: string;
}

export type TranscriptFrame = SseFrame & WebSocketFrame;

export interface TranscriptConnection {
  readonly transport: Transport;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  /** `undefined`: no response at all, an attempt. */
  readonly response:
    | {
        readonly status: number;
        readonly headers: Readonly<Record<string, string>>;
        readonly body?: unknown;
      }
    | undefined;
  readonly frames: readonly TranscriptFrame[];
  readonly ends: ConnectionEnd;
}

export interface ExpectedReconnect {
  readonly connection: number;
  readonly stream?: string;
  readonly classification: Classification;
  readonly reason?: string;
  readonly missed?: Count;
  readonly duplicates?: Count;
  readonly why?: string;
}

/** One incident as `docs/spec/transcripts.md` describes it. */
export interface Transcript {
  readonly name: string;
  readonly source?: string;
  readonly kind?: string;
  readonly connections: readonly TranscriptConnection[];
  readonly options: {
    readonly profiles?: readonly Profile[];
    readonly identity?: Identity;
    /** Seconds. */
    readonly reconnectWindow?: number;
  };
  readonly expect: readonly ExpectedReconnect[] | undefined;
}

/** The bytes of one frame, each field on its line in the order that servers write them. */
export function encodeSseFrame(frame: TranscriptFrame): string {
  if (frame.raw !== undefined) return frame.raw;
  const lines: string[] = [];
  if (frame.comment !== undefined) lines.push(...prefixed(':', frame.comment));
  if (frame.event !== undefined) lines.push(`event: ${frame.event}`);
  if (frame.id !== undefined) lines.push(`id: ${frame.id}`);
  if (frame.retry !== undefined) lines.push(`retry: ${frame.retry}`);
  if (frame.data !== undefined) lines.push(...prefixed('data: ', frame.data));
  return `${lines.join('\n')}\n\n`;
}

function prefixed(prefix: string, text: string): string[] {
  return text.split(/\r\n|\r|\n/).map((line) => prefix + line);
}
