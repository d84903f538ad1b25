import type { StreamConnection } from '@sameriver/core';
import { processWide } from '@sameriver/core';
import { liveOf } from './record.ts';

/** A verdict is due seconds after a response; what is pending for so long was given up by its tap. */
const FORGOTTEN_AFTER = 600_000;
/** Bounds the work of one `opened`. */
const SWEEP = 8;

/** Which connections are followed. */
export interface StreamBook {
  /** Its verdict is pending. */
  wait(connection: StreamConnection): void;
  /** The verdict leaves it open: it is active until it leaves. */
  up(connection: StreamConnection): void;
  leave(connection: StreamConnection): void;
  /** Hands over connections that nobody has ended, oldest first. */
  sweep(now: number, forget: (connection: StreamConnection) => void): void;
  /** Hands over every connection. */
  empty(forget: (connection: StreamConnection) => void): void;
  readonly open: ReadonlySet<StreamConnection>;
}

const inProcess = processWide('load', () => ({ open: 0 }));

/** Active streams of this process, whoever records them: the load of one is that of all. */
export function openStreams(): number {
  return inProcess.open;
}

export function createStreamBook(): StreamBook {
  const waiting = new Set<StreamConnection>();
  const open = new Set<StreamConnection>();
  return {
    open,
    wait: (connection) => void waiting.add(connection),
    up(connection) {
      waiting.delete(connection);
      if (!open.has(connection)) inProcess.open += 1;
      open.add(connection);
    },
    leave(connection) {
      waiting.delete(connection);
      if (open.delete(connection)) inProcess.open -= 1;
    },
    sweep(now, forget) {
      let left = SWEEP;
      for (const connection of waiting) {
        const openedAt = liveOf(connection)?.openedAt ?? Number.NEGATIVE_INFINITY;
        if (now - openedAt < FORGOTTEN_AFTER || left === 0) return;
        left -= 1;
        waiting.delete(connection);
        forget(connection);
      }
    },
    empty(forget) {
      for (const connection of [...waiting, ...open]) forget(connection);
      waiting.clear();
      inProcess.open -= open.size;
      open.clear();
    },
  };
}
