// biome-ignore lint/suspicious/noExplicitAny: the patch edge; each caller states what it patches.
export type Method = (this: any, ...args: any[]) => unknown;

/** Finds the method in force: one that is inherited may be patched further up at any time. */
export type Original = () => Method;

/**
 * Puts a method in front of one that `target` has or inherits. From the original it differs in
 * nothing that can be asked of it: name, arity, enumerability.
 *
 * @param make Gets what finds the original at each call, returns the method to stand before it.
 * @param isHidden Not enumerable, whatever the original is.
 * @returns Takes it away again, unless somebody stands in front of it by now: that one would lose
 *   what it calls. Does nothing where there is no such method.
 */
export function standBefore(
  target: object,
  name: string,
  make: (original: Original) => Method,
): () => void {
  const found = find(target, name);
  if (typeof found?.descriptor.value !== 'function') return () => {};
  const { owner, descriptor } = found;
  const original = descriptor.value as Method;
  const method = make(owner === target ? () => original : inheritedBy(target, name));
  for (const key of ['name', 'length']) {
    Object.defineProperty(method, key, { value: Reflect.get(original, key), configurable: true });
  }
  const { enumerable = false } = descriptor;
  const standing = { value: method, writable: true, configurable: true, enumerable };
  Object.defineProperty(target, name, standing);
  return () => {
    if (Object.getOwnPropertyDescriptor(target, name)?.value !== method) return;
    if (owner === target) Object.defineProperty(target, name, descriptor);
    else Reflect.deleteProperty(target, name);
  };
}

/** A property of ours on an object of the application: its own walks do not meet it. */
export function hide(target: object, slot: symbol, value: unknown): void {
  Object.defineProperty(target, slot, { value, writable: true, configurable: true });
}

/** Every message comes by here, so the prototype is looked up only where it may change. */
function inheritedBy(target: object, name: string): Original {
  const parent = Object.getPrototypeOf(target) as Record<string, Method>;
  const isClass =
    typeof target.constructor === 'function' && target.constructor.prototype === target;
  if (isClass) return () => parent[name] as Method;
  return () => Reflect.get(Object.getPrototypeOf(target), name);
}

function find(
  target: object,
  name: string,
): { readonly owner: object; readonly descriptor: PropertyDescriptor } | undefined {
  for (let owner: object | null = target; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name);
    if (descriptor !== undefined) return { owner, descriptor };
  }
  return undefined;
}
