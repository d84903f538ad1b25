import type { Channel } from 'node:diagnostics_channel';
import { channel } from 'node:diagnostics_channel';
import type { Context } from '@opentelemetry/api';
import { context } from '@opentelemetry/api';
import { shadow } from './shadow.ts';

export interface PublicationScope {
  /** A publication is under way that went through here. */
  readonly entered: boolean;
  /** Takes it away again. */
  stop(): void;
}

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
 */
export function scopePublications(
  name: string,
  enter: (message: unknown) => Context | undefined,
): PublicationScope {
  let depth = 0;
  let stopped = false;
  const target = channel(name);
  const own = Object.hasOwn(target, 'publish') ? target.publish : undefined;
  const undo = shadow(target, 'publish', () => {
    return function publish(this: Channel, message: unknown) {
      // A channel changes its prototype with its first and its last subscriber.
      const inner: Channel['publish'] = own ?? Object.getPrototypeOf(this).publish;
      if (stopped) return inner.call(this, message);
      const scope = enter(message);
      depth += 1;
      try {
        if (scope === undefined) return inner.call(this, message);
        return context.with(scope, inner, this, message);
      } finally {
        depth -= 1;
      }
    };
  });
  return {
    get entered() {
      return depth > 0;
    },
    stop() {
      stopped = true;
      undo();
    },
  };
}
