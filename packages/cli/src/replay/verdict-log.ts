import type {
  JudgedReconnect,
  StreamConnection,
  StreamObserver,
  StreamReport,
  Verdict,
} from '@sameriver/core';

/** Hears of every verdict of one replay and knows which connection of the transcript it is on. */
export interface VerdictLog {
  readonly observer: StreamObserver;
  /** In order of connections; values after revision, counted to the end of each connection. */
  verdicts(): JudgedReconnect[];
}

interface Entry {
  readonly connection: number;
  reports: Map<string | undefined, StreamReport>;
}

/**
 * @param playing Index of the connection that is being played. The first word about a connection
 *   comes while it is played, so that is when it gets its index.
 */
export function createVerdictLog(playing: () => number): VerdictLog {
  const entries = new Map<StreamConnection, Entry>();
  const entryOf = (connection: StreamConnection): Entry => {
    const known = entries.get(connection);
    if (known !== undefined) return known;
    const entry: Entry = { connection: playing(), reports: new Map() };
    entries.set(connection, entry);
    return entry;
  };
  const note = (connection: StreamConnection, report: StreamReport): void => {
    entryOf(connection).reports.set(report.stream, report);
  };
  return {
    observer: {
      settled: note,
      revised: note,
      inStream: () => {},
      ended: (connection, _end, reports) => {
        if (reports.length === 0) return;
        entryOf(connection).reports = new Map(reports.map((report) => [report.stream, report]));
      },
    },
    verdicts: () =>
      [...entries.values()]
        .sort((a, b) => a.connection - b.connection)
        .flatMap(({ connection, reports }) =>
          [...reports.values()].flatMap((report) =>
            report.verdict === undefined
              ? []
              : [toReconnect(connection, report, report.verdict, reports.size)],
          ),
        ),
  };
}

function toReconnect(
  connection: number,
  { missed, duplicates, stream }: StreamReport,
  verdict: Verdict,
  streams: number,
): JudgedReconnect {
  const named = stream === undefined || streams === 1 ? {} : { stream };
  return { connection, ...named, ...verdict, missed, duplicates };
}
