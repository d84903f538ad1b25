// biome-ignore lint/suspicious/noExplicitAny: the patch edge; each caller states what it shadows.
export type Method = (this: any, ...args: any[]) => unknown;

/**
 * Puts an own, non-enumerable method in front of the one that `target` has or inherits. It cannot
 * be told from the original by name, arity or `Object.keys`.
 *
 * @param make Gets the method that was in force and returns the one to stand before it.
 * @returns Takes the shadow away, unless somebody put another one in front of it since: that one
 *   would lose what it calls.
 */
export function shadow<Key extends string>(
  target: { [K in Key]?: unknown },
  key: Key,
  make: (original: Method) => Method,
): () => void {
  const original = target[key] as Method;
  const before = Object.getOwnPropertyDescriptor(target, key);
  const method = imitate(make(original), original);
  Object.defineProperty(target, key, {
    value: method,
    writable: true,
    configurable: true,
    enumerable: before?.enumerable ?? false,
  });
  return () => {
    if (target[key] !== method) return;
    if (before === undefined) delete target[key];
    else Object.defineProperty(target, key, before);
  };
}

/** Gives `method` the name and the arity of the one behind it. */
export function imitate(method: Method, original: Method): Method {
  if (method.length !== original.length) {
    Object.defineProperty(method, 'length', { value: original.length, configurable: true });
  }
  if (method.name !== original.name) {
    Object.defineProperty(method, 'name', { value: original.name, configurable: true });
  }
  return method;
}
