import type { CodecName } from '../cursor/codecs.ts';
import type { CursorMeaning } from '../cursor/relate.ts';

/** Where one fact stands on the wire; the grammar is in `place.ts`. */
type PlaceText = string;

export type Literal = string | number | boolean | null;

export type ConditionValue =
  | Literal
  | readonly Literal[]
  | { readonly absent: true }
  | { readonly present: true }
  | { readonly equals: PlaceText }
  | { readonly bit: number }
  | { readonly bitClear: number };

/** All entries must hold. Keys are places, `status` or `close`. */
export type Condition = Readonly<Record<string, ConditionValue>>;

export type CodecSpec =
  | CodecName
  | { readonly pattern: string; readonly order: CodecName }
  | readonly (CodecName | CodecItem)[];

export interface CodecItem {
  readonly codec: CodecName | { readonly pattern: string; readonly order: CodecName };
  readonly dense?: boolean;
  readonly means?: CursorMeaning;
  readonly separator?: string;
}

export type MessageFormat =
  | 'sse'
  | 'json'
  | 'json-lines'
  | 'json-rs'
  | 'engine.io'
  | 'cbor-seq'
  | 'msgpack'
  | 'msgpack-lp'
  | 'none';

export const MESSAGE_FORMATS: readonly MessageFormat[] = [
  'sse',
  'json',
  'json-lines',
  'json-rs',
  'engine.io',
  'cbor-seq',
  'msgpack',
  'msgpack-lp',
  'none',
];

export interface CursorSpec {
  readonly sent?: readonly PlaceText[];
  readonly received?: readonly PlaceText[];
  readonly codec?: CodecSpec;
  readonly dense?: boolean;
  readonly means?: CursorMeaning;
  /** Values that ask for the beginning or for live only: no cursor. */
  readonly start?: readonly string[];
  readonly separator?: string;
  /** Only where an epoch is known is what stands there a position. */
  readonly needsEpoch?: boolean;
  /** For protocols that number their messages without writing the numbers. */
  readonly count?: {
    readonly of: readonly Condition[];
    readonly set: PlaceText;
    readonly when: Condition;
  };
}

/**
 * A protocol as data: where, on its wire, the evidence of continuity stands. Source of the shape:
 * `docs/spec/profiles.md`.
 */
export interface Profile {
  readonly name: string;
  readonly match?: {
    readonly transport?: 'sse' | 'websocket';
    readonly path?: string;
    readonly signs?: readonly Condition[];
    /** How many distinct signs confirm the profile, one of them from the server. Default 1. */
    readonly signsNeeded?: number;
  };
  readonly messages?: MessageFormat;
  readonly key?: string;
  readonly stream?: PlaceText | readonly PlaceText[];
  readonly events?: readonly PlaceText[];
  /** An object whose members speak for one stream each: read as frames `{as: {…member, name: key}}`. */
  readonly members?: { readonly of: PlaceText; readonly as: string; readonly name: string };
  readonly reply?: { readonly sent: PlaceText; readonly received: PlaceText };
  readonly cursor?: CursorSpec;
  readonly epoch?: {
    readonly sent?: readonly PlaceText[];
    readonly received?: readonly PlaceText[];
    /** Frames that tell the token; any frame where it is absent. */
    readonly when?: Condition;
    /** The token is a session id: exported hashed by default. */
    readonly session?: boolean;
  };
  readonly echo?: readonly PlaceText[];
  readonly window?: {
    readonly size?: readonly PlaceText[];
    readonly oldest?: readonly PlaceText[];
  };
  readonly tail?: readonly PlaceText[];
  readonly resumed?: readonly Condition[];
  readonly reset?: readonly Condition[];
  readonly origin?: readonly Condition[];
  readonly refused?: readonly Condition[];
  readonly control?: readonly Condition[];
  readonly payload?: PlaceText;
  readonly identity?: readonly PlaceText[];
  readonly neverResumes?: boolean;
}
