import type { Channel } from 'node:diagnostics_channel';
import { channel } from 'node:diagnostics_channel';
import type { Context } from '@opentelemetry/api';
import { context } from '@opentelemetry/api';
import { standBefore, Watched } from '@sameriver/telemetry';

/** Must not throw. `undefined` leaves the context as it is. */
type Enter = (message: unknown) => Context | undefined;

// A channel changes its prototype with its first and its last subscriber, and is inherited from
// anew each time.
const scoped = new Watched<Channel, Enter>((target, watchers) =>
  standBefore(target, 'publish', (original) => {
    return function publish(this: Channel, message: unknown) {
      const inner = original();
      for (const enter of watchers) {
        const scope = enter(message);
        if (scope !== undefined) return context.with(scope, inner, this, message);
      }
      return inner.call(this, message);
    };
  }),
);

/**
 * Runs the subscribers of one channel inside a context chosen per message, for the time of that
 * publication and no longer: an HTTP instrumentation makes its span in a subscriber of its own,
 * from the context that is active there.
 *
 * @param enter Called before the subscribers.
 * @returns Takes it away again.
 */
export function scopePublications(name: string, enter: Enter): () => void {
  scoped.add(channel(name));
  return scoped.watch(enter);
}
