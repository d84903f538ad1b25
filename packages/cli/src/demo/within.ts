/** Long enough for two slow cores: it detects what is never coming. */
const PATIENCE = 20_000;

/** A part of the demo did not do its part. */
export class DemoStuck extends Error {
  override readonly name = 'DemoStuck';
}

/** @throws DemoStuck after 20 seconds, naming what was awaited. */
export async function within<T>(promise: Promise<T>, awaited: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new DemoStuck(`waited in vain for ${awaited}`)),
    PATIENCE,
  );
  // Whoever interrupts the demo need not wait for this.
  timer.unref();
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
