import { setImmediate } from 'node:timers/promises';

/** What both ends of a connection do in the same turn of the event loop is over after this. */
export async function settle(): Promise<void> {
  await setImmediate();
}
