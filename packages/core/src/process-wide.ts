/**
 * State of which a process must have one, although it may load several copies of this code: one
 * that is bundled and one that is not, or one that each of two dependencies installed.
 *
 * @param name Of the value and of its layout: copies of different releases meet here, so a layout
 *   that they would not share gets another name.
 * @param create Makes the value where no copy has made it yet.
 */
export function processWide<Value extends object>(name: string, create: () => Value): Value {
  const holder = globalThis as { [key: symbol]: Value | undefined };
  const key = Symbol.for(`sameriver.${name}`);
  const value = holder[key] ?? create();
  holder[key] = value;
  return value;
}
