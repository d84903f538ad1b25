/** What every copy of this package in a process must agree on. */
interface ProcessState {
  /** `register` waits for the first use of the process, or is past that. */
  armed: boolean;
  /** `register` has switched the instrumentations on. */
  begun: boolean;
  /** The application took them for an SDK of its own. */
  handedOut: boolean;
  /** Metrics are served on a port of their own. Absent in copies that do not know of it. */
  exposed?: boolean;
}

const KEY = Symbol.for('sameriver.node');

/** By a global symbol, so that two installed copies do not count one stream twice. */
export function processState(): ProcessState {
  const holder = globalThis as { [KEY]?: ProcessState };
  holder[KEY] ??= { armed: false, begun: false, handedOut: false };
  return holder[KEY];
}

/** How `OTEL_NODE_DISABLED_INSTRUMENTATIONS` calls the instrumentations that are used here. */
export type ShortName = 'sse' | 'websocket' | 'mcp' | 'http' | 'undici';

export function isDisabled(name: ShortName, env: NodeJS.ProcessEnv): boolean {
  const names = env['OTEL_NODE_DISABLED_INSTRUMENTATIONS'] ?? '';
  return names.split(',').some((listed) => listed.trim() === name);
}
