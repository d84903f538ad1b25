/** One value on objects that belong to somebody else. */
export interface PrivateSlot<Value> {
  get(target: object): Value | undefined;
  set(target: object, value: Value | undefined): void;
}

// What a constructor returns is what the fields of a derived class are added to.
class Target {
  constructor(target: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the one way to a field on a foreign object.
    return target;
  }
}

/**
 * What a WeakMap would hold, as a private field of each object: nobody can see it, it may be put on
 * whatever is frozen, and in a storm of connections it costs a third and the collector nothing.
 */
export function privateSlot<Value>(): PrivateSlot<Value> {
  return class Slot extends Target {
    #value: Value | undefined;

    private constructor(target: object, value: Value | undefined) {
      super(target);
      this.#value = value;
    }

    static get(target: object): Value | undefined {
      return #value in target ? target.#value : undefined;
    }

    static set(target: object, value: Value | undefined): void {
      if (#value in target) target.#value = value;
      else new Slot(target, value);
    }
  };
}
