import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { WebSocketInstrumentationConfig } from '@sameriver/instrumentation-websocket';
import type { Layer } from './layers.ts';
import { environmentLayer, objectLayer } from './layers.ts';
import { OBJECT_ONLY, OPTIONS } from './options.ts';
import { readSwitch } from './switches.ts';

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** Where `sameriver.json` is looked for. */
  readonly cwd: string;
}

export interface ReadConfig {
  readonly config: WebSocketInstrumentationConfig;
  /** Where the value of an option stands, by its path. */
  readonly places: ReadonlyMap<string, string>;
  /** One line for each value that could not be used; a weaker source or the default holds there. */
  readonly problems: readonly string[];
}

// An event budget needs both of its figures.
const TOGETHER: ReadonlyArray<readonly [string, number]> = [
  ['eventBudget.burst', 10],
  ['eventBudget.interval', 6_000],
];

/**
 * Puts the configuration together: what the application passes comes before the environment, that
 * before the file, that before the defaults.
 */
export function readConfig(
  given: WebSocketInstrumentationConfig,
  { env, cwd }: Surroundings,
): ReadConfig {
  const layers = [objectLayer(given, 'configuration'), environmentLayer(env), fileLayer(env, cwd)];
  const values = new Map<string, unknown>();
  const places = new Map<string, string>();
  for (const layer of layers.toReversed()) {
    for (const [path, value] of layer.values) values.set(path, value);
    for (const [path, place] of layer.places) places.set(path, place);
  }
  complete(values);
  return {
    config: { ...nest(values), ...objectOnly(given) },
    places,
    problems: layers.flatMap(({ problems }) => problems),
  };
}

function fileLayer(env: NodeJS.ProcessEnv, cwd: string): Layer {
  const named = readSwitch('SAMERIVER_CONFIG_FILE', env) as string | undefined;
  const file = resolve(cwd, named ?? 'sameriver.json');
  try {
    return objectLayer(JSON.parse(readFileSync(file, 'utf8')), file);
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const problems = absent && named === undefined ? [] : [unreadable(file, error as Error)];
    return { values: new Map(), places: new Map(), problems };
  }
}

function unreadable(file: string, error: Error): string {
  const reason = error instanceof SyntaxError ? `is not JSON: ${error.message}` : error.message;
  return `${file}: ${reason.replace(/\s+/g, ' ')}`;
}

function complete(values: Map<string, unknown>): void {
  if (!TOGETHER.some(([path]) => values.has(path))) return;
  for (const [path, standard] of TOGETHER) if (!values.has(path)) values.set(path, standard);
}

function nest(values: ReadonlyMap<string, unknown>): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const { path } of OPTIONS) {
    if (!values.has(path)) continue;
    const steps = path.split('.');
    const last = steps.pop() ?? path;
    let group = root;
    for (const step of steps) {
      group[step] ??= {};
      group = group[step] as Record<string, unknown>;
    }
    group[last] = values.get(path);
  }
  return root;
}

function objectOnly(given: WebSocketInstrumentationConfig): WebSocketInstrumentationConfig {
  const entries = OBJECT_ONLY.filter((name) => given[name] !== undefined);
  return Object.fromEntries(entries.map((name) => [name, given[name]]));
}
