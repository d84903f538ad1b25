import type {
  JudgedReconnect,
  StreamConnection,
  StreamObserver,
  StreamReport,
} from '@sameriver/core';

/** Hears of every verdict of one replay and knows which connection of the transcript it is on. */
export interface VerdictLog {
  /** The instrumentation follows one more connection: the one that is being played. */
  opened(connection: StreamConnection): void;
  /** The connection opened last was redirected and is now this one of the transcript (L6). */
  moved(index: number): void;
  readonly observer: StreamObserver;
  /** In order of connections; values after revision, counted to the end of each connection. */
  verdicts(): JudgedReconnect[];
}

interface Entry {
  index: number;
  reports: Map<string | undefined, StreamReport>;
}

/** @param playing Index of the connection that is being played. */
export function createVerdictLog(playing: () => number): VerdictLog {
  const entries = new Map<StreamConnection, Entry>();
  let last: Entry | undefined;
  const note = (connection: StreamConnection, report: StreamReport): void => {
    entries.get(connection)?.reports.set(report.stream, report);
  };
  return {
    opened: (connection) => {
      last = { index: playing(), reports: new Map() };
      entries.set(connection, last);
    },
    moved: (index) => {
      if (last !== undefined) last.index = index;
    },
    observer: {
      settled: note,
      revised: note,
      inStream: () => {},
      ended: (connection, _end, reports) => {
        const entry = entries.get(connection);
        if (entry === undefined || reports.length === 0) return;
        entry.reports = new Map(reports.map((report) => [report.stream, report]));
      },
    },
    verdicts: () => {
      // A library may ask twice for one connection: what it got last is what its application has.
      const last = new Map([...entries.values()].map((entry) => [entry.index, entry]));
      return [...last.values()].sort((a, b) => a.index - b.index).flatMap(judgedReconnects);
    },
  };
}

function judgedReconnects({ index, reports }: Entry): JudgedReconnect[] {
  return [...reports.values()].flatMap(({ verdict, missed, duplicates, stream }) => {
    if (verdict === undefined) return [];
    const named = stream === undefined || reports.size === 1 ? {} : { stream };
    return [{ connection: index, ...named, ...verdict, missed, duplicates }];
  });
}
