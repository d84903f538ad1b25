/** A method with whatever `this` and arguments its owner gave it; the tap only passes them on. */
export type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Where the original methods are looked up, by name, at each call. */
export type Originals<Name extends string> = Readonly<Record<Name, Method>>;

export type Wrappers<Name extends string> = Readonly<
  Record<Name, (originals: Originals<Name>) => Method>
>;

interface Place {
  readonly owner: object;
  readonly descriptor: PropertyDescriptor;
}

function find(prototype: object, name: string): Place | undefined {
  let owner: object | null = prototype;
  while (owner !== null) {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name);
    if (descriptor !== undefined) return { owner, descriptor };
    owner = Object.getPrototypeOf(owner);
  }
  return undefined;
}

function describeLike(wrapper: Method, original: Method): void {
  for (const key of ['name', 'length']) {
    const descriptor = Object.getOwnPropertyDescriptor(original, key);
    if (descriptor !== undefined) Object.defineProperty(wrapper, key, descriptor);
  }
}

/**
 * Replaces methods of one prototype by wrappers of the same name, length and enumerability. Names
 * that the prototype does not have are left out.
 *
 * A method that was inherited is called through the parent prototype each time, so that whoever
 * patches the parent after us is not bypassed.
 *
 * @returns Puts the originals back. A wrapper that somebody else has wrapped meanwhile stays, as it
 *   cannot be taken out from below.
 */
export function patchPrototype<Name extends string>(
  prototype: object,
  wrappers: Wrappers<Name>,
): () => void {
  const parent = Object.getPrototypeOf(prototype);
  const undo: (() => void)[] = [];
  for (const name of Object.keys(wrappers) as Name[]) {
    const place = find(prototype, name);
    if (place === undefined || typeof place.descriptor.value !== 'function') continue;
    const { owner, descriptor } = place;
    const own = owner === prototype;
    const originals = own ? { [name]: descriptor.value } : parent;
    const wrapper = wrappers[name](originals);
    describeLike(wrapper, descriptor.value);
    Object.defineProperty(prototype, name, { ...descriptor, value: wrapper });
    undo.push(() => {
      if (Object.getOwnPropertyDescriptor(prototype, name)?.value !== wrapper) return;
      if (own) Object.defineProperty(prototype, name, descriptor);
      else Reflect.deleteProperty(prototype, name);
    });
  }
  return () => {
    for (const restore of undo) restore();
  };
}
