import type { FollowedStream } from './followed-stream.ts';
import type { Method } from './shadow.ts';
import { imitate, shadow } from './shadow.ts';

/** Where an object that carries a stream keeps it: cheaper to find, and to keep, than by a map. */
const STREAM: unique symbol = Symbol('sameriver.stream');

interface Carrier {
  [STREAM]?: FollowedStream;
  [key: string]: unknown;
}

/** A method that stands before the inherited one on each object that carries a stream. */
export interface StandIn {
  readonly key: string;
  /** One function for all carriers: an open stream costs a property, not a closure. */
  readonly shared: Method;
  readonly around: (original: Method) => Method;
}

/**
 * @param make Gets how to find the method behind it for an object, and returns the method.
 * @param inherited Finds the method that an object inherits. Worth writing out where every chunk
 *   passes: V8 looks a written name up four times as fast as one in a variable.
 */
export function standIn(
  key: string,
  make: (behind: (self: object) => Method) => Method,
  inherited: (self: object) => Method = (self) => Object.getPrototypeOf(self)[key],
): StandIn {
  return { key, shared: make(inherited), around: (original) => make(() => original) };
}

export function streamOn(carrier: object): FollowedStream | undefined {
  return (carrier as Carrier)[STREAM];
}

/** Makes `carrier` carry `stream`. Nothing that is added to it can be enumerated. */
export function attach(
  carrier: object,
  stream: FollowedStream,
  standIns: readonly StandIn[],
): void {
  define(carrier, STREAM, stream);
  for (const { key, shared, around } of standIns) {
    const target = carrier as Record<string, Method>;
    const behind = target[key];
    if (Object.hasOwn(target, key)) stream.untilOver(shadow(target, key, around));
    else if (behind !== undefined) define(target, key, imitate(shared, behind));
  }
}

export function detach(carrier: object, standIns: readonly StandIn[]): void {
  const target = carrier as Carrier;
  for (const { key, shared } of standIns) {
    // What somebody put in front of ours since would lose what it calls.
    if (target[key] === shared) delete target[key];
  }
  delete target[STREAM];
}

function define(target: object, key: PropertyKey, value: unknown): void {
  Object.defineProperty(target, key, {
    value,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}
