import { parse } from 'yaml';

/** The registry file, in OpenTelemetry's semantic convention shape (v1), as far as it is read here. */
interface Member {
  readonly value: string;
  readonly brief: string;
}

export interface Attribute {
  readonly id: string;
  readonly type: string | { readonly members: readonly Member[] };
  readonly brief: string;
  readonly note?: string;
  readonly examples?: readonly unknown[];
}

type Level = 'required' | 'recommended' | { readonly conditionally_required: string };

export interface Reference {
  readonly ref: string;
  readonly requirement_level: Level;
}

interface Annotations {
  readonly names?: readonly string[];
  readonly reserved?: boolean;
  readonly explicit_bucket_boundaries?: readonly number[];
  readonly values?: Readonly<Record<string, readonly string[]>>;
}

interface Group {
  readonly id: string;
  readonly type: 'attribute_group' | 'span' | 'event' | 'metric';
  readonly brief: string;
  readonly note?: string;
  readonly extends?: string;
  readonly annotations?: Annotations;
  readonly attributes?: readonly (Attribute | Reference)[];
  readonly name?: string;
  readonly span_kind?: string;
  readonly metric_name?: string;
  readonly instrument?: string;
  readonly unit?: string;
}

export interface Signal extends Group {
  readonly references: readonly Reference[];
}

export interface Registry {
  readonly attributes: readonly Attribute[];
  /** Names that OpenTelemetry owns and we only use. */
  readonly foreign: readonly string[];
  readonly spans: readonly Signal[];
  readonly events: readonly Signal[];
  readonly metrics: readonly Signal[];
}

/**
 * @param text Content of `event_stream.yaml`.
 * @throws Error naming the group, when a reference leads nowhere.
 */
export function readRegistry(text: string): Registry {
  const { groups } = parse(text) as { groups: readonly Group[] };
  const attributes = groups.flatMap((group) => (group.attributes ?? []).filter(isAttribute));
  const known = new Set(attributes.map(({ id }) => id));
  const signals = groups.map((group) => resolve(group, groups));
  const foreign = new Set<string>();
  for (const { id, references } of signals) {
    for (const { ref } of references) {
      if (known.has(ref)) continue;
      if (ref.startsWith('event_stream.')) {
        throw new Error(
          `${id} refers to ${ref}, which no group defines: add it or correct the name`,
        );
      }
      foreign.add(ref);
    }
  }
  const ofType = (type: Group['type']) => signals.filter((signal) => signal.type === type);
  return {
    attributes,
    foreign: [...foreign],
    spans: ofType('span'),
    events: ofType('event'),
    metrics: ofType('metric'),
  };
}

function isAttribute(entry: Attribute | Reference): entry is Attribute {
  return 'id' in entry;
}

function resolve(group: Group, groups: readonly Group[]): Signal {
  const own = (group.attributes ?? []).filter((entry): entry is Reference => !isAttribute(entry));
  if (group.extends === undefined) return { ...group, references: own };
  const parent = groups.find(({ id }) => id === group.extends);
  if (parent === undefined) {
    throw new Error(`${group.id} extends ${group.extends}, which does not exist: correct the name`);
  }
  return { ...group, references: [...resolve(parent, groups).references, ...own] };
}
