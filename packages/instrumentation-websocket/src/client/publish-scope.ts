import type { Channel } from 'node:diagnostics_channel';
import { channel } from 'node:diagnostics_channel';
import type { Context } from '@opentelemetry/api';
import { context } from '@opentelemetry/api';
import { standBefore } from '../patch.ts';

/**
 * Runs the subscribers of one channel inside a context chosen per message, for the time of that
 * publication and no longer: an HTTP instrumentation makes its span in a subscriber of its own,
 * from the context that is active there.
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
  const undo = standBefore(target, 'publish', () => {
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
