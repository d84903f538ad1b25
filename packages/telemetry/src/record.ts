import type { Context, Span, SpanContext } from '@opentelemetry/api';
import type { StreamConnection, Verdict } from '@sameriver/core';
import type { LoadLevel } from './names.ts';

/**
 * What a logical stream remembers of its last connection, in the slot `connection.context` and
 * later `connection.previous`. It refers to no earlier memo and to no span, so that a stream
 * which reconnects for months holds one of these (about 220 bytes).
 */
export interface StreamMemo {
  /** Of the connect or accept span. */
  spanContext: SpanContext | undefined;
  /** Milliseconds when the stream was last up; `undefined` while it is up, and if it never was. */
  downSince: number | undefined;
  /** Until when its events are paid for: `event-budget.ts`. */
  paidUntil: number;
  /** Only while the connection is followed. */
  live: LiveConnection | undefined;
}

/** `pending`: no verdict yet. `up`: events flow, or may. `refused`: they never will. */
type Phase = 'pending' | 'up' | 'refused';

export interface LiveConnection {
  readonly memo: StreamMemo;
  phase: Phase;
  connect: Span | undefined;
  /** The INTERNAL span above `connect`, where there is one. */
  root: Span | undefined;
  /** The HTTP span that carries the stream: it outlives `connect`. */
  http: Span | undefined;
  /** Nobody else ends `http`. */
  endsHttp: boolean;
  /** Where the attempt began; forgotten with `connect`. */
  context: Context | undefined;
  readonly openedAt: number;
  /** Whether the connection before this one was known when its span began. */
  previousKnown: boolean;
  /** The outage that this connection may end, from `StreamMemo.downSince`. */
  outageSince: number | undefined;
  /** The worst verdict so far, of those of its logical streams (R19). */
  verdict: Verdict | undefined;
  /** Its migration is on a span already. */
  migrated: boolean;
  /** Load at the first verdict. */
  level: LoadLevel | undefined;
  /** What of `connection.events`, `connection.repeated` and the missed ones is in the counters. */
  events: number;
  repeated: number;
  missed: number;
}

/** @param previous Memo of the connection before this one on the logical stream. */
export function createMemo(previous: StreamMemo | undefined): StreamMemo {
  return {
    spanContext: undefined,
    downSince: previous?.downSince,
    paidUntil: previous?.paidUntil ?? 0,
    live: undefined,
  };
}

export function createLive(
  memo: StreamMemo,
  openedAt: number,
  previousKnown: boolean,
): LiveConnection {
  return {
    memo,
    phase: 'pending',
    connect: undefined,
    root: undefined,
    http: undefined,
    endsHttp: false,
    context: undefined,
    openedAt,
    previousKnown,
    outageSince: memo.downSince,
    verdict: undefined,
    migrated: false,
    level: undefined,
    events: 0,
    repeated: 0,
    missed: 0,
  };
}

export function memoOf(slot: unknown): StreamMemo | undefined {
  return slot as StreamMemo | undefined;
}

export function liveOf(connection: StreamConnection): LiveConnection | undefined {
  return memoOf(connection.context)?.live;
}
