import type {
  ConnectionEnd,
  InStreamFinding,
  JudgedOrigin,
  OtherIssuer,
  OwnFinding,
  StreamConnection,
  StreamObserver,
  StreamReport,
} from '@sameriver/core';
import {
  asksForOrigin,
  hasIssued,
  judgeOrigin,
  migrationOutcome,
  speaksForAll,
} from '@sameriver/core';
import type { CaptureOptions } from '../types.ts';
import { HeldReports } from './held-reports.ts';
import { heldVerdicts } from './held-verdicts.ts';
import { instanceName } from './instance-name.ts';
import { IssueBook, streamOf } from './issue-book.ts';
import type { OriginIndex } from './origin-index.ts';
import { OriginInquiry } from './origin-inquiry.ts';

export interface OriginOptions {
  readonly index: OriginIndex;
  readonly capture: CaptureOptions;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** How this process is called. Default `service.instance.id`, else host and process id. */
  readonly instance?: string;
  /** Calls back when a verdict has been held long enough. Default: after 250 ms. */
  readonly later?: (callback: () => void) => () => void;
  failed(): void;
}

/**
 * Stands between a timeline and who hears of it. A verdict of a server that other instances may
 * know more about is held back until the index has answered, and what follows on that connection
 * with it; the stream itself is none of its business.
 */
export class OriginObserver implements StreamObserver {
  readonly #next: StreamObserver;
  readonly #failed: () => void;
  readonly #book: IssueBook;
  readonly #inquiry: OriginInquiry;
  readonly #held = new HeldReports();
  readonly #judged = new WeakMap<StreamConnection, Map<string | undefined, JudgedOrigin>>();

  constructor(options: OriginOptions, next: StreamObserver) {
    const { index, failed, later, instance = instanceName() } = options;
    this.#next = next;
    this.#failed = failed;
    this.#book = new IssueBook({ ...options, instance });
    this.#inquiry = new OriginInquiry(index, failed, later);
    heldVerdicts.add(this.#inquiry);
  }

  settled(connection: StreamConnection, report: StreamReport): void {
    const { logEpoch } = report;
    const written = report.written?.tag === 0 ? undefined : report.written;
    if (written !== undefined) this.#book.watch(written, logEpoch);
    const own = ownFinding(this.#book, report);
    if (written === undefined || own === undefined) {
      this.#held.tell(connection, () => this.#next.settled(connection, report));
      return;
    }
    const release = this.#held.hold(connection);
    this.#inquiry.ask(streamOf(written), (others) => {
      const judged = this.#judge(own, others);
      this.#note(connection, report, judged);
      release(() => this.#next.settled(connection, amended(report, judged)));
    });
  }

  revised(connection: StreamConnection, report: StreamReport): void {
    this.#held.tell(connection, () => this.#next.revised(connection, report));
  }

  inStream(connection: StreamConnection, finding: InStreamFinding): void {
    this.#held.tell(connection, () => this.#next.inStream(connection, finding));
  }

  ended(connection: StreamConnection, end: ConnectionEnd, reports: readonly StreamReport[]): void {
    for (const { written } of reports) if (written !== undefined) this.#book.leave(written);
    this.#held.tell(connection, () => {
      const judged = this.#judged.get(connection);
      const final = reports.map((report) => amended(report, judged?.get(report.stream)));
      this.#next.ended(connection, end, final);
    });
  }

  /** Tells what is held back as it is, and the index what it was not told yet. */
  stop(): void {
    heldVerdicts.delete(this.#inquiry);
    this.#inquiry.stop();
    this.#book.stop();
  }

  #judge(own: OwnFinding, others: readonly OtherIssuer[]): JudgedOrigin {
    try {
      return judgeOrigin(own, others);
    } catch {
      this.#failed();
      return { verdict: own.verdict, origin: undefined };
    }
  }

  /** The connection tells its verdict once more when it ends. */
  #note(connection: StreamConnection, { stream }: StreamReport, judged: JudgedOrigin): void {
    if (judged.origin === undefined) return;
    const noted = this.#judged.get(connection) ?? new Map<string | undefined, JudgedOrigin>();
    this.#judged.set(connection, noted.set(stream, judged));
  }
}

/** `undefined` where no other instance could say more. */
function ownFinding(book: IssueBook, report: StreamReport): OwnFinding | undefined {
  const { verdict, written, requestedCursor: cursor, logEpoch } = report;
  if (verdict === undefined || written === undefined || cursor === undefined) return undefined;
  if (!asksForOrigin(verdict)) return undefined;
  const issuedHere = speaksForAll(written) ? hasIssued(written, cursor) : undefined;
  if (verdict.classification !== 'resumed' && issuedHere !== false) return undefined;
  const epoch = book.epochOf(written, logEpoch);
  return { verdict, cursor, epoch, issuedHere, begunAgo: book.begunAgo(written) };
}

function amended(report: StreamReport, judged: JudgedOrigin | undefined): StreamReport {
  if (judged === undefined) return report;
  const { verdict, origin } = judged;
  if (verdict === report.verdict) return { ...report, origin };
  const { migration } = report;
  return {
    ...report,
    verdict,
    origin,
    missed: 'unknown',
    ...(migration && { migration: { ...migration, outcome: migrationOutcome(verdict) } }),
  };
}
