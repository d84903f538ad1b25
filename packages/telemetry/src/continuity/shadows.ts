type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Own methods put before those of one object, until they are taken away again. */
export class Shadows {
  readonly #target: object;
  readonly #undo: (() => void)[] = [];

  constructor(target: object) {
    this.#target = target;
  }

  /** @param make Given what the object had, which a middleware may have put there. */
  put(name: string, make: (original: Method) => Method): void {
    const target = this.#target;
    const original: unknown = Reflect.get(target, name);
    if (typeof original !== 'function') return;
    const before = Object.getOwnPropertyDescriptor(target, name);
    const value = make(original as Method);
    Object.defineProperty(target, name, { value, writable: true, configurable: true });
    this.#undo.push(() => {
      // Somebody else stands before us by now: what is below is not ours to take out.
      if (Object.getOwnPropertyDescriptor(target, name)?.value !== value) return;
      if (before === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, before);
    });
  }

  remove(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }
}
