import type {
  ConnectionEnd,
  Count,
  HeaderLookup,
  HeldPosition,
  Profile,
  Reason,
  StreamConnection,
  StreamReport,
  StreamRequest,
} from '@sameriver/core';
import { createClientTimeline } from '@sameriver/core';
import type { Standing } from './course.ts';
import type { SsePart } from './sse-event.ts';
import { encodePart } from './sse-event.ts';

/** How a stream stands to what was applied of it. */
export interface Judgement {
  readonly standing: Standing;
  readonly reason: Reason | undefined;
  /** Events lost on the way here, where that is proven. */
  readonly missed: Count;
  readonly epoch: string | undefined;
}

export interface JudgeOptions {
  readonly profiles: readonly Profile[] | undefined;
  /** Where the stream was left; `undefined` when nothing was read of it. */
  readonly held: HeldPosition | undefined;
}

/**
 * Judges one connection by the rules of `docs/spec/verdicts.md`, from what it says and what was held
 * before. Each has a timeline of its own: what a refused connection delivered must not become the
 * position that the next one is measured by. R8 and R14, which compare payloads across connections,
 * therefore do not apply here: fewer proofs either way, never a wrong one.
 */
export class Judge {
  readonly #connection: StreamConnection;
  #judgement: Judgement | undefined;

  /** @throws SyntaxError when a profile cannot be read. */
  constructor(request: StreamRequest, { profiles, held }: JudgeOptions) {
    const timeline = createClientTimeline({
      ...(profiles && { profiles }),
      // The ledger tells what was delivered before; the timeline need not.
      identity: 'id',
      observer: {
        settled: (_, report) => this.#hear(report),
        revised: (_, report) => this.#hear(report),
        inStream: (_, { kind, missed }) => {
          const epoch = this.#judgement?.epoch;
          this.#judgement = { standing: 'reoriginated', reason: kind, missed, epoch };
        },
        ended: (_connection, _end, [report]) => {
          if (report !== undefined && this.#judgement === undefined) this.#hear(report);
        },
      },
    });
    this.#connection = timeline.open({ ...request, ...(held && { held }) }, 0);
    // Nothing to continue, so there is nothing to wait for.
    if (held === undefined && !this.#connection.resumeRequested) this.#judgement = FIRST;
  }

  /** `undefined` until its deciding byte. */
  get judgement(): Judgement | undefined {
    return this.#judgement;
  }

  /** @returns Whether the answer opens a stream; otherwise there is a judgement. */
  answered(status: number, header: HeaderLookup): boolean {
    return this.#connection.response(status, header);
  }

  /** @returns Whether it is an event for the application, and none of the protocol's own. */
  take(part: SsePart): boolean {
    const before = this.#connection.events;
    this.#connection.pushString(encodePart(part));
    return this.#connection.events > before;
  }

  /** Nothing decided within the decision timeout (R16). */
  timeOut(): void {
    this.#connection.timeout();
  }

  end(end: ConnectionEnd): void {
    this.#connection.end(end);
  }

  #hear({ verdict, missed, epoch }: StreamReport): void {
    this.#judgement = {
      standing: verdict?.classification ?? 'first',
      reason: verdict?.reason,
      missed,
      epoch,
    };
  }
}

/** Nothing was read of the stream before. */
export const FIRST: Judgement = {
  standing: 'first',
  reason: undefined,
  missed: 'unknown',
  epoch: undefined,
};
