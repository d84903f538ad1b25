import type { CodecChoice } from '../cursor/relate.ts';
import { codecChoices } from './codec-choices.ts';
import type { CompiledCondition } from './condition.ts';
import { compileCondition, onePart } from './condition.ts';
import type { Place, PlacePart, PlaceSource } from './place.ts';
import { loneMember, parsePlace } from './place.ts';
import type { Condition, MessageFormat, Profile } from './profile.ts';

interface Sign {
  readonly condition: CompiledCondition;
  readonly fromServer: boolean;
}

/** A profile with its places parsed, its patterns compiled and what it needs worked out. */
export interface CompiledProfile {
  readonly name: string;
  readonly builtIn: boolean;
  readonly source: Profile;
  readonly transport: 'sse' | 'websocket' | undefined;
  readonly path: RegExp | undefined;
  readonly signs: readonly Sign[];
  readonly signsNeeded: number;
  readonly messages: MessageFormat;
  readonly key: RegExp | undefined;
  readonly stream: readonly Place[];
  readonly events: readonly Place[];
  readonly members:
    | { readonly of: PlacePart; readonly as: string; readonly name: string }
    | undefined;
  readonly reply: { readonly sent: Place; readonly received: Place } | undefined;
  readonly cursorSent: readonly Place[];
  readonly cursorReceived: readonly Place[];
  readonly choices: readonly CodecChoice[];
  readonly start: ReadonlySet<string>;
  readonly separator: string;
  readonly needsEpoch: boolean;
  readonly count:
    | {
        readonly of: readonly CompiledCondition[];
        readonly set: Place;
        readonly when: CompiledCondition;
      }
    | undefined;
  readonly epochSent: readonly Place[];
  readonly epochReceived: readonly Place[];
  readonly epochWhen: readonly CompiledCondition[];
  readonly epochIsSession: boolean;
  readonly echo: readonly Place[];
  readonly windowSize: readonly Place[];
  readonly oldest: readonly Place[];
  readonly tail: readonly Place[];
  /** Of these, those that a frame can answer anew. */
  readonly tailInFrames: readonly Place[];
  readonly resumed: readonly CompiledCondition[];
  readonly reset: readonly CompiledCondition[];
  readonly origin: readonly CompiledCondition[];
  readonly refused: readonly CompiledCondition[];
  readonly control: readonly CompiledCondition[];
  /** Signals that no frame can give, asked once; the lists above leave them out. */
  readonly inHeaders: Readonly<
    Record<'resumed' | 'reset' | 'origin', readonly CompiledCondition[]>
  >;
  readonly payload: Place | undefined;
  readonly identity: readonly Place[];
  readonly neverResumes: boolean;
  /** A sign or a place looks inside the frames. */
  readonly readsFrames: boolean;
  /** Once confirmed, every event has still to be read as text. */
  readonly readsEvents: boolean;
  /** Once confirmed, messages of the client have still to be read. */
  readonly readsRequests: boolean;
  /** The member that frames are looked into for, where it holds the position and is the only one. */
  readonly loneMember: string | undefined;
  /** Positions are the ids of SSE events and nothing else. */
  readonly usesEventIds: boolean;
  /** Positions are told in frames that are no events, so they may follow the event. */
  readonly tellsPositions: boolean;
  readonly requestHeaders: readonly string[];
  readonly responseHeaders: readonly string[];
  /** Query parameters that are cursor or epoch: they leave the key (L4). */
  readonly positionQueries: readonly string[];
}

type Text = string | readonly string[] | undefined;
const list = (text: Text): readonly string[] =>
  text === undefined ? [] : typeof text === 'string' ? [text] : text;
const places = (text: Text): readonly Place[] => list(text).map(parsePlace);
const conditions = (all: readonly Condition[] | undefined): readonly CompiledCondition[] =>
  (all ?? []).map(compileCondition);
const pattern = (text: string | undefined): RegExp | undefined =>
  text === undefined ? undefined : new RegExp(text);

/**
 * @throws SyntaxError naming the profile and what in it cannot be read. The shape itself is checked
 * by `validateProfile` first, where profiles come from outside.
 */
export function compileProfile(profile: Profile, builtIn = false): CompiledProfile {
  try {
    return compile(profile, builtIn);
  } catch (error) {
    throw new SyntaxError(`profile "${profile.name}": ${(error as Error).message}`);
  }
}

function compile(profile: Profile, builtIn: boolean): CompiledProfile {
  const { match = {}, cursor = {}, epoch = {} } = profile;
  const described = { ...readPlaces(profile), ...readConditions(profile) };
  return {
    ...described,
    ...needs(described),
    ...splitSignals(described),
    path: pattern(match.path),
    key: pattern(profile.key),
    name: profile.name,
    builtIn,
    source: profile,
    transport: match.transport,
    signsNeeded: match.signsNeeded ?? 1,
    messages: profile.messages ?? (match.transport === 'websocket' ? 'json' : 'sse'),
    choices: codecChoices(cursor),
    start: new Set(cursor.start),
    separator: cursor.separator ?? '_',
    needsEpoch: cursor.needsEpoch ?? false,
    epochIsSession: epoch.session ?? false,
    neverResumes: profile.neverResumes ?? false,
  };
}

function readPlaces(profile: Profile): DescribedPlaces {
  const { cursor = {}, epoch = {}, window = {}, reply, members } = profile;
  return {
    stream: places(profile.stream),
    events: places(profile.events),
    members: members && { ...members, of: onePart(members.of, parsePlace(members.of)) },
    reply: reply && { sent: parsePlace(reply.sent), received: parsePlace(reply.received) },
    cursorSent: places(cursor.sent),
    cursorReceived: places(cursor.received),
    epochSent: places(epoch.sent),
    epochReceived: places(epoch.received),
    echo: places(profile.echo),
    windowSize: places(window.size),
    oldest: places(window.oldest),
    tail: places(profile.tail),
    payload: profile.payload === undefined ? undefined : parsePlace(profile.payload),
    identity: places(profile.identity),
  };
}

function readConditions({ match, cursor, epoch, ...profile }: Profile): DescribedConditions {
  const count = cursor?.count;
  return {
    signs: conditions(match?.signs).map((c) => ({ condition: c, fromServer: c.fromServer })),
    count: count && {
      of: conditions(count.of),
      set: parsePlace(count.set),
      when: compileCondition(count.when),
    },
    epochWhen: conditions(epoch?.when && [epoch.when]),
    resumed: conditions(profile.resumed),
    reset: conditions(profile.reset),
    origin: conditions(profile.origin),
    refused: conditions(profile.refused),
    control: conditions(profile.control),
  };
}

type DescribedPlaces = Pick<
  CompiledProfile,
  | 'stream'
  | 'events'
  | 'members'
  | 'reply'
  | 'cursorSent'
  | 'cursorReceived'
  | 'epochSent'
  | 'epochReceived'
  | 'echo'
  | 'windowSize'
  | 'oldest'
  | 'tail'
  | 'payload'
  | 'identity'
>;

type DescribedConditions = Pick<
  CompiledProfile,
  'signs' | 'count' | 'epochWhen' | 'resumed' | 'reset' | 'origin' | 'refused' | 'control'
>;

type SignalLists = Pick<CompiledProfile, 'resumed' | 'reset' | 'origin' | 'refused'>;

type Described = DescribedPlaces & DescribedConditions;

function needs(
  d: Described,
): Pick<
  CompiledProfile,
  | 'readsFrames'
  | 'readsEvents'
  | 'readsRequests'
  | 'loneMember'
  | 'usesEventIds'
  | 'tellsPositions'
  | 'tailInFrames'
  | 'requestHeaders'
  | 'responseHeaders'
  | 'positionQueries'
> {
  const parts = allParts(d);
  const later = allParts({ ...d, signs: [] });
  const named = (source: PlaceSource): string[] => [
    ...new Set(parts.filter((part) => part.source === source).map((part) => part.name)),
  ];
  const inFrames = (part: PlacePart): boolean =>
    isOfFrame(part) && !(part.source === 'sse' && part.name === 'id');
  const tailInFrames = d.tail.filter((place) => place.some(isOfFrame));
  return {
    readsFrames: parts.some(inFrames),
    readsRequests: later.some(({ source }) => source === 'sent-json'),
    loneMember: loneMember(later, d.cursorReceived),
    readsEvents:
      later.some(inFrames) ||
      d.epochReceived.flat().some((part) => part.source === 'codec') ||
      d.count !== undefined ||
      !isEventIdAlone(d.cursorReceived),
    tailInFrames,
    usesEventIds: isEventIdAlone(d.cursorReceived),
    tellsPositions:
      tailInFrames.length > 0 || (d.control.length > 0 && d.cursorReceived.flat().some(inFrames)),
    requestHeaders: named('req-header'),
    responseHeaders: named('header'),
    positionQueries: [...d.cursorSent, ...d.epochSent]
      .flat()
      .filter((part) => part.source === 'query')
      .map((part) => part.name),
  };
}

const isOfFrame = ({ source }: PlacePart): boolean => source === 'json' || source === 'sse';

function splitSignals({
  resumed,
  reset,
  origin,
  refused,
}: DescribedConditions): Pick<CompiledProfile, keyof SignalLists | 'inHeaders'> {
  const ofFrame = ({ parts }: CompiledCondition): boolean =>
    parts.some((part) => isOfFrame(part) || part.source === 'codec' || part.source === 'close');
  const frames = (all: readonly CompiledCondition[]): CompiledCondition[] => all.filter(ofFrame);
  const headers = (all: readonly CompiledCondition[]): CompiledCondition[] =>
    all.filter((condition) => !ofFrame(condition));
  return {
    resumed: frames(resumed),
    reset: frames(reset),
    origin: frames(origin),
    refused: frames(refused),
    inHeaders: {
      resumed: headers(resumed),
      reset: [...headers(reset), ...headers(refused)],
      origin: headers(origin),
    },
  };
}

/** The scanner knows the event's id; any other position has to be read. */
function isEventIdAlone(received: readonly Place[]): boolean {
  const parts = received.flat();
  return parts.every((part) => part.source === 'sse' && part.name === 'id' && !part.pattern);
}

function allParts(d: Described): PlacePart[] {
  const inPlaces = [
    ...d.stream,
    ...d.events,
    ...(d.reply ? [d.reply.sent, d.reply.received] : []),
    ...d.cursorSent,
    ...d.cursorReceived,
    ...(d.count ? [d.count.set] : []),
    ...d.epochSent,
    ...d.epochReceived,
    ...d.echo,
    ...d.windowSize,
    ...d.oldest,
    ...d.tail,
    ...(d.payload ? [d.payload] : []),
    ...d.identity,
  ].flat();
  const inConditions = [
    ...d.signs.map((sign) => sign.condition),
    ...(d.count ? [...d.count.of, d.count.when] : []),
    ...d.epochWhen,
    ...d.resumed,
    ...d.reset,
    ...d.origin,
    ...d.refused,
    ...d.control,
  ].flatMap((condition) => condition.parts);
  return [...inPlaces, ...inConditions];
}
