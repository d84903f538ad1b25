import type {
  Role,
  StreamConnection,
  StreamObserver,
  StreamTimeline,
  Transport,
} from './connection.ts';
import { processWide } from './process-wide.ts';
import { createServerTimeline } from './server/server-timeline.ts';
import type { TimelineOptions } from './timeline/client-timeline.ts';
import { createClientTimeline } from './timeline/client-timeline.ts';

/** What one instrumentation brings to a timeline that others of its process feed as well. */
export interface TimelineMember extends TimelineOptions {
  /** Of the connections that it opens; its observer hears of those alone. */
  readonly transport: Transport;
}

export interface JoinedTimeline {
  readonly timeline: StreamTimeline;
  /** To be called when the own connections have ended; the others go on. */
  leave(): void;
}

interface SharedTimeline {
  readonly role: Role;
  readonly settings: string;
  readonly streamKey: TimelineMember['streamKey'] | undefined;
  readonly members: Map<Transport, TimelineMember>;
  readonly timeline: StreamTimeline;
}

const shared = processWide('timelines', () => new Set<SharedTimeline>());

/**
 * The timeline of a role in this process. A stream that goes from SSE to a WebSocket is one stream
 * (M1), of which two instrumentations see one half each: those that were given the same options get
 * the same timeline. Options that differ make timelines apart, and so does a second member of the
 * same transport, which would otherwise hear what the first one opened.
 *
 * @returns The timeline, for as long as the member does not leave it.
 * @throws SyntaxError when a profile of the options cannot be read.
 */
export function joinTimeline(role: Role, member: TimelineMember): JoinedTimeline {
  const settings = settingsOf(member);
  const found = [...shared].find(
    (other) =>
      other.role === role &&
      other.settings === settings &&
      other.streamKey === member.streamKey &&
      !other.members.has(member.transport),
  );
  const joined = found ?? create(role, settings, member);
  joined.members.set(member.transport, member);
  shared.add(joined);
  return {
    timeline: joined.timeline,
    leave: () => {
      if (joined.members.get(member.transport) === member) joined.members.delete(member.transport);
      if (joined.members.size === 0) shared.delete(joined);
    },
  };
}

/** All that decides how streams are told apart and judged; the decoder belongs to a transport. */
function settingsOf(options: TimelineOptions): string {
  const { profiles, identity, reconnectWindow, closedStreams, history } = options;
  return JSON.stringify([profiles, identity, reconnectWindow, closedStreams, history]);
}

function create(role: Role, settings: string, member: TimelineMember): SharedTimeline {
  const members = new Map<Transport, TimelineMember>();
  const { streamKey } = member;
  const options: TimelineOptions = {
    ...member,
    observer: dispatching(({ transport }) => members.get(transport)?.observer),
    // Who reads binary messages may join later.
    get decodeBinary() {
      return members.get('websocket')?.decodeBinary;
    },
  };
  const timeline =
    role === 'client' ? createClientTimeline(options) : createServerTimeline(options);
  return { role, settings, streamKey, members, timeline };
}

function dispatching(
  observerOf: (connection: StreamConnection) => StreamObserver | undefined,
): StreamObserver {
  return {
    settled: (connection, report) => observerOf(connection)?.settled(connection, report),
    revised: (connection, report) => observerOf(connection)?.revised(connection, report),
    inStream: (connection, finding) => observerOf(connection)?.inStream(connection, finding),
    ended: (connection, end, reports) => observerOf(connection)?.ended(connection, end, reports),
  };
}
