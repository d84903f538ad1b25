import type { ClientRequest } from 'node:http';
import { createRequire } from 'node:module';
import { InstrumentationNodeModuleDefinition } from '@opentelemetry/instrumentation';
import { processWide } from '@sameriver/core';

// biome-ignore lint/suspicious/noExplicitAny: the patch edge; node:http has several overloads.
export type RequestFunction = (this: any, ...args: any[]) => ClientRequest;

/** Whoever wants to be asked before the HTTP instrumentation makes its span. */
export interface HttpCaller {
  call(original: RequestFunction, self: unknown, args: unknown[]): ClientRequest;
}

/** As OpenTelemetry's wrapping marks a function. */
type WrappedFunction = RequestFunction & { readonly __unwrap?: () => void };

interface HttpExports {
  request: RequestFunction;
  get: RequestFunction;
  /** In the namespace that an ES module imports. */
  default?: HttpExports;
}

const ENTRIES = ['request', 'get'] as const;
type Entry = (typeof ENTRIES)[number];

// Wrapped functions outlive every tap, so they ask who is running when they are called.
const { callers, originals } = processWide('websocket.http', () => ({
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
 * reads the active context inside of them: without it each reconnect would hang below the one
 * before. Nothing is wrapped where that instrumentation is not.
 */
export function httpModuleDefinitions(): InstrumentationNodeModuleDefinition[] {
  return ['http', 'https'].map(
    (name) =>
      new InstrumentationNodeModuleDefinition(
        name,
        ['*'],
        standInFront,
        (exports?: HttpExports) => {
          if (exports !== undefined) standBack(exports);
        },
      ),
  );
}

/**
 * The same for an application that loaded the module, or enabled the HTTP instrumentation, after
 * this one was: a module hook fires once for a module, and instrumentations wrap in their order.
 */
export function standInFrontLate(protocol: string): void {
  const name = protocol === 'https:' ? 'https' : 'http';
  standInFront(createRequire(import.meta.url)(name) as HttpExports);
}

function standInFront(exports: HttpExports): HttpExports {
  for (const entry of ENTRIES) {
    const original = exports[entry];
    // The mark that OpenTelemetry's own wrapping leaves on a function.
    const isInstrumented = '__original' in original;
    if (isInstrumented && !originals.has(original)) replace(exports, entry, wrap(exports, entry));
  }
  return exports;
}

function standBack(exports: HttpExports): void {
  for (const entry of ENTRIES) {
    const original = originals.get(exports[entry]);
    if (original !== undefined) replace(exports, entry, original);
  }
}

function wrap(exports: HttpExports, entry: Entry): RequestFunction {
  const original: WrappedFunction = exports[entry];
  const wrapped: RequestFunction = function (this: unknown, ...args) {
    const [caller] = callers;
    return caller === undefined ? original.apply(this, args) : caller.call(original, this, args);
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
