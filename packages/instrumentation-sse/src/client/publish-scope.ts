import type { Channel } from 'node:diagnostics_channel';
import { channel } from 'node:diagnostics_channel';
import type { Context } from '@opentelemetry/api';
import { context } from '@opentelemetry/api';
import { shadow } from './shadow.ts';

/**
 * Runs the subscribers of one channel inside a context chosen per message, for the time of that
 * publication and no longer.
 *
 * The HTTP instrumentation makes its span in a subscriber of its own, from the context that is
 * active there. A subscriber of ours could only change that context for everybody after it, and
 * would have to find somebody to change it back; a method in front of the one channel's `publish`
 * needs neither, and does not care who subscribed first.
 *
 * @param enter Called before the subscribers; must not throw. `undefined` leaves the context as it is.
 * @returns Takes it away again.
 */
export function scopePublications(
  name: string,
  enter: (message: unknown) => Context | undefined,
): () => void {
  let active = true;
  const target = channel(name);
  const own = Object.hasOwn(target, 'publish') ? target.publish : undefined;
  const undo = shadow(target, 'publish', () => {
    return function publish(this: Channel, message: unknown) {
      // A channel changes its prototype with its first and its last subscriber.
      const inner: Channel['publish'] = own ?? Object.getPrototypeOf(this).publish;
      const scope = active ? enter(message) : undefined;
      return scope === undefined
        ? inner.call(this, message)
        : context.with(scope, inner, this, message);
    };
  });
  return () => {
    active = false;
    undo();
  };
}
