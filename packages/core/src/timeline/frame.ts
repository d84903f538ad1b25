import type { Position } from '../cursor/position.ts';
import { parseWith } from '../cursor/relate.ts';
import { frameTagOf } from '../frame-tag.ts';
import { textTagOf } from '../id-tag.ts';
import { canonicalJson } from '../json.ts';
import type { Message } from '../messages.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import { anyHolds } from '../profile/condition.ts';
import type { Place, SseFields, Subject } from '../profile/place.ts';
import { readFirst, resolvePointer } from '../profile/place.ts';
import type { Engine } from './engine.ts';

/** One message as places and conditions see it; its JSON is parsed when first asked for. */
export class Frame implements Subject {
  readonly sse: SseFields | undefined;
  readonly status: number | undefined;
  readonly path: string | undefined;
  readonly requestHeader: Subject['requestHeader'];
  readonly query: Subject['query'];
  readonly sentJson: Subject['sentJson'];
  readonly responseHeader: Subject['responseHeader'];
  readonly continuity: Subject['continuity'];
  position: Position | undefined;
  /** The scanner's tag of the event's own id. */
  idTag = 0;
  readonly #message: Message;

  constructor(base: Subject, message: Message, sse?: SseFields) {
    this.#message = message;
    this.sse = sse;
    this.status = base.status;
    this.path = base.path;
    this.requestHeader = base.requestHeader;
    this.query = base.query;
    this.sentJson = base.sentJson;
    this.responseHeader = base.responseHeader;
    this.continuity = base.continuity;
  }

  /** The same frame over another base. */
  with(base: Subject): Frame {
    const frame = new Frame(base, this.#message, this.sse);
    frame.idTag = this.idTag;
    return frame;
  }

  get text(): string {
    return this.#message.text;
  }

  get json(): unknown {
    return this.#message.value;
  }

  member(name: string): unknown {
    const { member } = this.#message;
    return member === undefined
      ? resolvePointer(this.json, [name])[0]
      : member.call(this.#message, name);
  }
}

/** What one frame says, before anybody decides what that means. */
export interface FrameFacts {
  readonly isSignal: boolean;
  readonly isControl: boolean;
  readonly reset: boolean;
  readonly resumed: boolean;
  readonly origin: boolean;
  readonly position: string | undefined;
  readonly epoch: string | undefined;
  readonly echo: string | undefined;
  readonly tail: string | undefined;
  readonly oldest: string | undefined;
  readonly windowSize: number | undefined;
}

/** @param inEpoch an epoch is known, without which some protocols have no positions. */
export function readFrame(profile: CompiledProfile, frame: Frame, inEpoch = true): FrameFacts {
  const { separator } = profile;
  const read = (places: readonly Place[]): string | undefined =>
    places.length === 0 ? undefined : readFirst(places, frame, separator) || undefined;
  const position = inEpoch || !profile.needsEpoch ? read(profile.cursorReceived) : undefined;
  frame.position = position === undefined ? undefined : parseWith(profile.choices, position);
  const reset = anyHolds(profile.reset, frame) || anyHolds(profile.refused, frame);
  const resumed = anyHolds(profile.resumed, frame);
  return {
    isSignal: reset || resumed,
    isControl: anyHolds(profile.control, frame),
    reset,
    resumed,
    origin: anyHolds(profile.origin, frame),
    position,
    epoch: tellsEpoch(profile, frame) ? read(profile.epochReceived) : undefined,
    echo: read(profile.echo),
    tail: read(profile.tailInFrames),
    oldest: read(profile.oldest),
    windowSize: sizeOf(read(profile.windowSize)),
  };
}

function tellsEpoch({ epochWhen }: CompiledProfile, frame: Frame): boolean {
  return epochWhen.length === 0 || anyHolds(epochWhen, frame);
}

export function sizeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Items of the arrays that a reply brings its replay in. */
export function itemsOf(profile: CompiledProfile, frame: Frame): unknown[] {
  return profile.events
    .flatMap((place) => place.flatMap((part) => resolvePointer(frame.json, part.pointer)))
    .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
}

/** 0 when the configuration and the profile name no key, or this event has none. */
export function keyTagOf(engine: Engine, profile: CompiledProfile, frame: Frame): number {
  const places = engine.identityKeys.length > 0 ? engine.identityKeys : profile.identity;
  if (places.length === 0) return 0;
  const key = readFirst(places, frame, profile.separator);
  return key === undefined ? 0 : textTagOf(key);
}

/** @param scanned the tag of the data bytes, where a scanner made one. */
export function payloadTagOf(
  engine: Pick<Engine, 'identity'>,
  profile: CompiledProfile,
  frame: Frame,
  scanned: number | undefined,
): number {
  if (engine.identity === 'id') return 0;
  const text = comparedText(engine, profile, frame);
  return text === undefined ? (scanned ?? frameTagOf(frame.text)) : textTagOf(text);
}

/** What payloads are compared by, where that is not the event as it came. */
function comparedText(
  { identity }: Pick<Engine, 'identity'>,
  profile: CompiledProfile,
  frame: Frame,
): string | undefined {
  const [part] = profile.payload ?? [];
  const value = part && resolvePointer(frame.json, part.pointer)[0];
  if (value !== undefined) return canonicalJson(value);
  if (identity !== 'canonical-json' || frame.json === undefined) return undefined;
  return canonicalJson(frame.json);
}
