import { nearest } from './nearest.ts';
import type { Option } from './options.ts';
import { OBJECT_ONLY, OPTIONS } from './options.ts';
import { SWITCHES } from './switches.ts';

/** Sound values of one source, by the path of their option. */
export interface Layer {
  readonly values: ReadonlyMap<string, unknown>;
  /** Where each of them stands: a variable, or a file and a member. */
  readonly places: ReadonlyMap<string, string>;
  /** One line each: what is wrong, where, and what was expected. */
  readonly problems: readonly string[];
}

const PREFIX = 'SAMERIVER_';
const PATHS = OPTIONS.map(({ path }) => path);
const GROUPS = PATHS.flatMap((path) => path.split('.').slice(0, 1));
const VARIABLES = [
  ...OPTIONS.flatMap(({ env }) => env ?? []),
  ...SWITCHES.map((entry) => entry.env),
];

/** Variables set to nothing count as not set, as everywhere in OpenTelemetry. */
export function environmentLayer(env: NodeJS.ProcessEnv): Layer {
  const layer = emptyLayer();
  for (const option of OPTIONS) {
    const text = option.env && env[option.env];
    if (text) take(layer, option, option.check.parse(text), option.env ?? '', text);
  }
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || VARIABLES.includes(name)) continue;
    layer.problems.push(`${name} is not an option${suggestion(name, VARIABLES)}`);
  }
  return layer;
}

/**
 * @param root The configuration object or the content of the file.
 * @param source How messages call it.
 */
export function objectLayer(root: unknown, source: string): Layer {
  const layer = emptyLayer();
  if (!isRecord(root)) {
    layer.problems.push(`${source}: expected an object, found ${shown(root)}`);
    return layer;
  }
  visit(root, '', (path, value) => {
    const option = OPTIONS.find((known) => known.path === path);
    if (option !== undefined) take(layer, option, value, `${source}: ${path}`, value);
    else if (PATHS.some((known) => known.startsWith(`${path}.`))) {
      layer.problems.push(`${source}: ${path} is ${shown(value)}: expected an object`);
    } else if (!(OBJECT_ONLY as readonly string[]).includes(path)) {
      layer.problems.push(
        `${source}: ${path} is not an option${suggestion(path, [...PATHS, ...GROUPS])}`,
      );
    }
  });
  return layer;
}

interface OpenLayer extends Layer {
  readonly values: Map<string, unknown>;
  readonly places: Map<string, string>;
  readonly problems: string[];
}

function emptyLayer(): OpenLayer {
  return { values: new Map(), places: new Map(), problems: [] };
}

function take(layer: OpenLayer, option: Option, value: unknown, at: string, found: unknown): void {
  if (option.check.accepts(value)) {
    layer.values.set(option.path, value);
    layer.places.set(option.path, at);
  } else layer.problems.push(`${at} is ${shown(found)}: expected ${option.check.expected}`);
}

/** Calls back for every member that is no group of options. */
function visit(
  members: Readonly<Record<string, unknown>>,
  above: string,
  found: (path: string, value: unknown) => void,
): void {
  for (const [name, value] of Object.entries(members)) {
    const path = above + name;
    if (value === undefined) continue;
    if (isRecord(value) && PATHS.some((known) => known.startsWith(`${path}.`))) {
      visit(value, `${path}.`, found);
    } else found(path, value);
  }
}

function suggestion(name: string, known: readonly string[]): string {
  const best = nearest(name, known);
  return best === undefined ? '' : `; did you mean ${best}?`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SHOWN = 80;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
