/** Long enough for a machine under load: it detects a hang and decides nothing else. */
const PATIENCE_MS = 20_000;

/** Both ends are in this process, so what does not come is never coming. */
export class ReplayStuck extends Error {
  override readonly name = 'ReplayStuck';
}

/**
 * Waits for something that the other end of a connection is about to do.
 *
 * @param awaited Names it in the error, after "waited in vain for".
 * @throws ReplayStuck after 20 seconds.
 */
export async function within<T>(promise: Promise<T>, awaited: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ReplayStuck(`waited in vain for ${awaited}`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, stuck]);
  } finally {
    clearTimeout(timer);
  }
}
