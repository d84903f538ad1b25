import type { Method, Original } from './patch.ts';
import { standBefore } from './patch.ts';

type Methods<State> = Readonly<
  Record<string, (original: Original, stateOf: (target: object) => State | undefined) => Method>
>;

/**
 * Watches methods of single objects for a while, by a prototype more that they are given. Methods
 * put on the object itself would have to be deleted from it again, and V8 makes slow whatever
 * something was deleted from: a socket at each write of its life.
 */
export class Interposed<State extends object> {
  readonly #methods: Methods<State>;
  readonly #states = new WeakMap<object, State>();
  /** By the prototype that an object had; objects of one class share it. */
  readonly #watching = new WeakMap<object, object>();

  /** @param methods Each gets the original and what finds the state of the object it is called on. */
  constructor(methods: Methods<State>) {
    this.#methods = methods;
  }

  stateOf(target: object): State | undefined {
    return this.#states.get(target);
  }

  put(target: object, state: State): void {
    this.#states.set(target, state);
    Object.setPrototypeOf(target, this.#above(Object.getPrototypeOf(target)));
  }

  /** Its methods are its own again, unless somebody has changed its prototype since. */
  remove(target: object): void {
    if (!this.#states.delete(target)) return;
    const watching = Object.getPrototypeOf(target);
    const prototype = Object.getPrototypeOf(watching);
    if (this.#watching.get(prototype) === watching) Object.setPrototypeOf(target, prototype);
  }

  #above(prototype: object): object {
    const known = this.#watching.get(prototype);
    if (known !== undefined) return known;
    const watching: object = Object.create(prototype);
    const stateOf = (target: object): State | undefined => this.#states.get(target);
    for (const [name, make] of Object.entries(this.#methods)) {
      standBefore(watching, name, (original) => make(original, stateOf));
    }
    this.#watching.set(prototype, watching);
    return watching;
  }
}
