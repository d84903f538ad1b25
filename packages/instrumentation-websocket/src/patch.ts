// biome-ignore lint/suspicious/noExplicitAny: the patch edge; each caller states what it patches.
export type Method = (this: any, ...args: any[]) => unknown;

/**
 * Puts a method in front of one that `target` has or inherits. From the original it differs in
 * nothing that can be asked of it: name, arity, enumerability.
 *
 * @param make Gets the method that was in force and returns the one to stand before it.
 * @returns Takes it away again, unless somebody stands in front of it by now: that one would lose
 *   what it calls.
 */
export function standBefore<Key extends PropertyKey>(
  target: { [K in Key]?: unknown },
  key: Key,
  make: (original: Method) => Method,
): () => void {
  const before = Object.getOwnPropertyDescriptor(target, key);
  const original = target[key] as Method;
  const method = alike(make(original), original);
  Object.defineProperty(target, key, {
    value: method,
    writable: true,
    configurable: true,
    enumerable: before?.enumerable ?? false,
  });
  return () => {
    if (Object.getOwnPropertyDescriptor(target, key)?.value !== method) return;
    if (before === undefined) Reflect.deleteProperty(target, key);
    else Object.defineProperty(target, key, before);
  };
}

/** The same for a prototype, whose method may be inherited and patched further up later on. */
export function patchMethod(
  prototype: object,
  name: string,
  make: (original: () => Method) => Method,
): () => void {
  const target = prototype as Record<string, Method>;
  if (typeof target[name] !== 'function') return () => {};
  if (!Object.hasOwn(prototype, name)) {
    const parent = Object.getPrototypeOf(prototype) as Record<string, Method>;
    return standBefore(target, name, () => make(() => parent[name] as Method));
  }
  return standBefore(target, name, (original) => make(() => original));
}

/** A property of ours on an object of the application: its own walks do not meet it. */
export function hide(target: object, slot: symbol, value: unknown): void {
  Object.defineProperty(target, slot, { value, writable: true, configurable: true });
}

function alike(method: Method, original: Method): Method {
  for (const key of ['name', 'length']) {
    const descriptor = Object.getOwnPropertyDescriptor(original, key);
    if (descriptor !== undefined) Object.defineProperty(method, key, descriptor);
  }
  return method;
}
