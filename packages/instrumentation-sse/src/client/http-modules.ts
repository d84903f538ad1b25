import type { ClientRequest } from 'node:http';
import { createRequire } from 'node:module';
import { InstrumentationNodeModuleDefinition } from '@opentelemetry/instrumentation';
import { processWide } from '@sameriver/core';

export type HttpProtocol = 'http:' | 'https:';

// biome-ignore lint/suspicious/noExplicitAny: the patch edge; node:http has several overloads.
export type RequestFunction = (this: any, ...args: any[]) => ClientRequest;

/** Whoever wants to stand in front of the HTTP instrumentation. */
export interface HttpCaller {
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

const MODULES: ReadonlyArray<readonly [string, HttpProtocol]> = [
  ['http', 'http:'],
  ['https', 'https:'],
];
const ENTRIES = ['request', 'get'] as const;
type Entry = (typeof ENTRIES)[number];

// Wrapped functions outlive every tap, so they ask who is running when they are called.
const { callers, originals } = processWide('sse.http', () => ({
  callers: new Set<HttpCaller>(),
  originals: new WeakMap<RequestFunction, RequestFunction>(),
}));

export function addCaller(caller: HttpCaller): () => void {
  callers.add(caller);
  return () => {
    callers.delete(caller);
  };
}

/**
 * Has `http.request` and its three siblings wrapped outside of the HTTP instrumentation, which
 * reads the active context inside of them. Nothing is wrapped where that instrumentation is not.
 */
export function httpModuleDefinitions(): InstrumentationNodeModuleDefinition[] {
  return MODULES.map(
    ([name, protocol]) =>
      new InstrumentationNodeModuleDefinition(
        name,
        ['*'],
        (exports: HttpExports) => standInFront(exports, protocol),
        (exports?: HttpExports) => exports && standBack(exports),
      ),
  );
}

/**
 * The same for an application that loaded the module, or enabled the HTTP instrumentation, after
 * this one was: a module hook fires once for a module, and instrumentations wrap in their order.
 */
export function standInFrontLate(protocol: string): void {
  const module = MODULES.find((entry) => entry[1] === protocol);
  if (module !== undefined) standInFront(createRequire(import.meta.url)(module[0]), module[1]);
}

function standInFront(exports: HttpExports, protocol: HttpProtocol): HttpExports {
  for (const entry of ENTRIES) {
    const original = exports[entry];
    if (originals.has(original) || !isInstrumented(original)) continue;
    replace(exports, entry, wrap(exports, entry, protocol));
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
    const [caller] = callers;
    return caller === undefined
      ? original.apply(this, args)
      : caller.call(protocol, original, this, args);
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

function replace(exports: HttpExports, entry: Entry, value: RequestFunction): void {
  exports[entry] = value;
  if (exports.default !== undefined) exports.default[entry] = value;
}

// The mark that OpenTelemetry's own wrapping leaves on a function.
function isInstrumented(entry: RequestFunction): boolean {
  return '__original' in entry;
}
