// The place that every 1.x copy of @opentelemetry/api shares. Looked at directly, because a process
// that waits has no need to load the API, and because the application may use another copy of it.
const KEY = Symbol.for('opentelemetry.js.api.1');

const SIGNALS = ['trace', 'metrics', 'logs', 'context', 'propagation'] as const;

type ApiGlobals = Partial<Record<(typeof SIGNALS)[number] | 'diag' | 'version', unknown>>;

export function apiGlobals(): ApiGlobals {
  return (globalThis as { [KEY]?: ApiGlobals })[KEY] ?? {};
}

/** An SDK registers its context manager first, so any of them means that one is being started. */
export function isSdkRegistered(): boolean {
  const globals = apiGlobals();
  return SIGNALS.some((signal) => globals[signal] !== undefined);
}
