import type { Player } from '../cast.ts';
import { createCast } from '../cast.ts';
import type { SpanInbox } from '../span-inbox.ts';
import { startSpanInbox } from '../span-inbox.ts';

/** Readers of the one feed. */
export const READERS = 24;
/** Those that are dropped at a time: the others go on reading. */
export const DROPPED = 12;
/** Events in a second. */
export const RATE = 100;
/** Events that the window holds when the server has nothing else to do. */
export const WINDOW = 120;
/** Milliseconds that the last reader to come back stays away; the others are spread below it. */
export const LONGEST_ABSENCE = 1_000;

export interface LoadStage {
  readonly server: Player;
  readonly readers: Player;
  readonly inbox: SpanInbox;
  clear(): Promise<void>;
}

/** A feed whose window shrinks under load, and those who read it. */
export async function setLoadStage(
  copyTo: string | undefined,
  targetsFile: string | undefined,
): Promise<LoadStage> {
  const inbox = await startSpanInbox(copyTo);
  const cast = createCast(inbox.endpoint, targetsFile);
  const clear = async (): Promise<void> => {
    await cast.end();
    await inbox.close();
  };
  try {
    const shape = [RATE, WINDOW, DROPPED, LONGEST_ABSENCE].map(String);
    const server = await cast.start('feed-server', 'feed-server', shape);
    const { port = 0 } = await server.hear('ready');
    const url = `http://127.0.0.1:${port}/jobs`;
    const readers = await cast.start('feed-readers', 'feed-readers', [url, String(READERS)]);
    return { server, readers, inbox, clear };
  } catch (error) {
    await clear();
    throw error;
  }
}
