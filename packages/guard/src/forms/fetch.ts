import type { StreamRequest } from '@sameriver/core';
import { courseFor } from '../course.ts';
import { Desk } from '../desk.ts';
import { Judge } from '../judge.ts';
import { JudgedStream } from '../judged-stream.ts';
import type { Office } from '../office.ts';
import type { StreamResumptionViolation } from '../violation.ts';
import type { Line } from './cursor-memory.ts';
import { CursorMemory } from './cursor-memory.ts';
import { GuardedBody } from './guarded-body.ts';

export interface GuardedFetchOptions {
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * What becomes of a stream that is not the one before. `gate` (default): it is answered with 409,
   * and nothing of it reaches the client, which keeps its cursor and tries again. `filter`: it stays
   * open; messages with an idempotency key pass once each, those without one are dropped. A
   * reconnect of which nothing is proven is answered with 409 in both.
   */
  readonly mode?: 'gate' | 'filter';
  /** Hears of each message that was dropped and each stream that was refused. */
  readonly onViolation?: (violation: StreamResumptionViolation) => void;
  /** Hears why a stream was ended without one: the ledger, or a callback of the guard, failed. */
  readonly onError?: (error: unknown) => void;
}

/** What is asked for, as far as it matters here. */
interface Asked {
  readonly request: StreamRequest;
  readonly place: string;
  readonly cursor: string | undefined;
}

/**
 * A `fetch` that lets event streams through only as far as they continue what the client has.
 * Everything else passes untouched. It never errors a body: SDKs of MCP then reconnect without a
 * cursor, and apply the very events that were to be kept from them.
 */
export function guardedFetch(
  office: Office,
  options: GuardedFetchOptions,
): typeof globalThis.fetch {
  const gate = new Gate(office, options);
  return (input, init) => gate.fetch(input, init);
}

class Gate {
  readonly #office: Office;
  readonly #options: GuardedFetchOptions;
  readonly #memory = new CursorMemory();

  constructor(office: Office, options: GuardedFetchOptions) {
    this.#office = office;
    this.#options = options;
  }

  async fetch(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
    const { fetch = globalThis.fetch } = this.#options;
    const asked = askedBy(input, init);
    const response = await fetch(input, init);
    if (!isEventStream(response) || response.body === null) return response;
    const { request, place, cursor } = asked;
    const line = this.#memory.lineFor(place, request.method, cursor);
    const { profiles } = this.#office.options;
    const judge = new Judge(request, { profiles, held: line.held });
    judge.answered(response.status, (name) => response.headers.get(name) ?? undefined);
    const stream = new JudgedStream(judge, response.body, this.#office.waiting);
    const desk = new Desk(this.#office, { stream: line.name, held: line.held, isKept: false });
    const refusal = await this.#refusalOf(judge, stream, desk);
    if (refusal === undefined) return this.#passOn(response, { line, stream, desk });
    await stream.cancel().catch(() => {});
    this.#options.onViolation?.(refusal);
    return answerFor(refusal);
  }

  /** Waits for the verdict, for no longer than the decision timeout. */
  async #refusalOf(
    judge: Judge,
    stream: JudgedStream,
    desk: Desk,
  ): Promise<StreamResumptionViolation | undefined> {
    try {
      await stream.settle();
    } catch (error) {
      // The answer broke off: its reader shall see that, and come again with the cursor it has.
      if (judge.judgement === undefined) throw error;
    }
    const { judgement } = judge;
    if (judgement === undefined) return undefined;
    const found = await desk.standingOf(judgement);
    const { mode = 'gate' } = this.#options;
    const passes = courseFor(found.standing, mode === 'filter') !== 'refuse';
    if (passes) return undefined;
    const why = found.standing === 'reoriginated' ? 'no_idempotency_key' : 'unverifiable';
    return desk.violation(why, found, undefined, undefined);
  }

  #passOn(
    response: Response,
    { line, stream, desk }: { line: Line; stream: JudgedStream; desk: Desk },
  ): Response {
    const body = new GuardedBody(
      this.#office,
      { line, stream, desk },
      {
        dropped: (violation) => this.#options.onViolation?.(violation),
        failed: (error) => this.#options.onError?.(error),
        left: () => this.#memory.close(line),
      },
    );
    const headers = new Headers(response.headers);
    // They speak of the bytes that were sent, which fetch has decoded and the guard writes anew.
    headers.delete('content-encoding');
    headers.delete('content-length');
    const { status, statusText, url, redirected } = response;
    const passed = new Response(body.stream, { status, statusText, headers });
    Object.defineProperties(passed, { url: { value: url }, redirected: { value: redirected } });
    return passed;
  }
}

function askedBy(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): Asked {
  const isRequest = input instanceof Request;
  const { origin, pathname, search } = new URL(isRequest ? input.url : input);
  const headers = new Headers(init?.headers ?? (isRequest ? input.headers : undefined));
  const method = (init?.method ?? (isRequest ? input.method : 'GET')).toUpperCase();
  const { body } = init ?? {};
  return {
    request: {
      transport: 'sse',
      method,
      origin,
      target: pathname + search,
      header: (name) => headers.get(name) ?? undefined,
      ...(typeof body === 'string' && { body: () => parsed(body) }),
    },
    place: JSON.stringify([origin, pathname, search, headers.get('mcp-session-id')]),
    cursor: headers.get('last-event-id') || undefined,
  };
}

function isEventStream({ status, headers }: Response): boolean {
  return (
    status === 200 && /^\s*text\/event-stream\s*(;|$)/i.test(headers.get('content-type') ?? '')
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** In the shape of a JSON-RPC error, which clients of MCP show. */
function answerFor({ message, reason, verdictReason }: StreamResumptionViolation): Response {
  const data = { reason, verdictReason };
  const error = { jsonrpc: '2.0', id: null, error: { code: -32_000, message, data } };
  return Response.json(error, { status: 409, statusText: 'Stream not resumed' });
}
