import type { ClientRequest } from 'node:http';
import { createRequire } from 'node:module';
import { processWide } from '@sameriver/core';

export type HttpProtocol = 'http:' | 'https:';

// biome-ignore lint/suspicious/noExplicitAny: the patch edge; node:http has several overloads.
export type RequestFunction = (this: any, ...args: any[]) => ClientRequest;

/** Whoever wants to be asked before the HTTP instrumentation makes its span. */
export interface HttpCaller {
  /** Calls `original` with `self` and `args` in any case, and returns what it returns. */
  call(
    protocol: HttpProtocol,
    original: RequestFunction,
    self: unknown,
    args: unknown[],
  ): ClientRequest;
}

/** As OpenTelemetry's wrapping marks a function. */
type WrappedFunction = RequestFunction & { readonly __unwrap?: () => void };

interface HttpExports {
  request: RequestFunction;
  get: RequestFunction;
  /** In the namespace that an ES module imports. */
  default?: HttpExports;
}

/** What a module hook is made of. */
interface HttpFront {
  readonly name: 'http' | 'https';
  patch(exports: HttpExports): HttpExports;
}

const ENTRIES = ['request', 'get'] as const;
type Entry = (typeof ENTRIES)[number];

// Wrapped functions outlive every tap, so they ask who is running when they are called. By the
// transport that a caller follows: of two copies of one tap the first is asked and no other.
const { callers, originals, met } = processWide('http-front', () => ({
  callers: new Map<string, Set<HttpCaller>>(),
  originals: new WeakMap<RequestFunction, RequestFunction>(),
  /** The modules that were met with an HTTP instrumentation. */
  met: new Map<HttpExports, HttpProtocol>(),
}));

/**
 * Wraps `request` and `get` of `node:http` and `node:https` outside of the HTTP instrumentation,
 * which reads the active context inside of them: without it each reconnect would hang below the one
 * before. Nothing is wrapped where that instrumentation is not.
 */
export const httpFronts: readonly HttpFront[] = [
  { name: 'http', patch: (exports) => standInFront(exports, 'http:') },
  { name: 'https', patch: (exports) => standInFront(exports, 'https:') },
];

/**
 * @param transport What the caller follows.
 * @returns Ends it; with the last caller the modules are as they were.
 */
export function addHttpCaller(transport: string, caller: HttpCaller): () => void {
  const same = callers.get(transport) ?? new Set();
  callers.set(transport, same.add(caller));
  for (const [exports, protocol] of met) standInFront(exports, protocol);
  return () => {
    same.delete(caller);
    if ([...callers.values()].some(({ size }) => size > 0)) return;
    for (const exports of met.keys()) standBack(exports);
  };
}

/**
 * The same for an application that loaded the module, or enabled the HTTP instrumentation, after
 * the hook was set: a module hook fires once for a module, and instrumentations wrap in their order.
 */
export function standBeforeHttp(protocol: string): void {
  const front = httpFronts.find(({ name }) => `${name}:` === protocol);
  front?.patch(createRequire(import.meta.url)(front.name));
}

function standInFront(exports: HttpExports, protocol: HttpProtocol): HttpExports {
  for (const entry of ENTRIES) {
    const original = exports[entry];
    if (originals.has(original) || !isInstrumented(original)) continue;
    replace(exports, entry, wrap(exports, entry, protocol));
    met.set(exports, protocol);
  }
  return exports;
}

function standBack(exports: HttpExports): void {
  for (const entry of ENTRIES) {
    const original = originals.get(exports[entry]);
    if (original !== undefined) replace(exports, entry, original);
  }
}

function wrap(exports: HttpExports, entry: Entry, protocol: HttpProtocol): RequestFunction {
  const original: WrappedFunction = exports[entry];
  const wrapped: RequestFunction = function (this: unknown, ...args) {
    return throughCallers(protocol, original).apply(this, args);
  };
  const marks = {
    name: original.name,
    length: original.length,
    __original: original,
    __wrapped: true,
    // The HTTP instrumentation takes its wrapper away through whatever stands there when it is
    // disabled, which is ours.
    __unwrap: () => {
      if (exports[entry] === wrapped) replace(exports, entry, original);
      original.__unwrap?.();
    },
  };
  for (const [key, value] of Object.entries(marks)) {
    Object.defineProperty(wrapped, key, { value, configurable: true });
  }
  originals.set(wrapped, original);
  return wrapped;
}

/** Each transport's caller calls the next one, and the last of them the original. */
function throughCallers(protocol: HttpProtocol, original: RequestFunction): RequestFunction {
  let call = original;
  for (const [caller] of callers.values()) {
    if (caller === undefined) continue;
    const next = call;
    call = function (this: unknown, ...args) {
      return caller.call(protocol, next, this, args);
    };
  }
  return call;
}

function replace(exports: HttpExports, entry: Entry, value: RequestFunction): void {
  exports[entry] = value;
  if (exports.default !== undefined) exports.default[entry] = value;
}

// The mark that OpenTelemetry's own wrapping leaves on a function.
function isInstrumented(entry: RequestFunction): boolean {
  return '__original' in entry;
}
