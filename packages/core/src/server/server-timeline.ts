import type { StreamRequest, StreamTimeline } from '../connection.ts';
import { HistoryMemory } from '../history-memory.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { TimelineOptions } from '../timeline/client-timeline.ts';
import { RECONNECT_WINDOW } from '../timeline/client-timeline.ts';
import type { HeaderFacts } from '../timeline/facts.ts';
import { claimOf, subjectOf } from '../timeline/facts.ts';
import { announcesMove } from '../timeline/move.ts';
import { profilesOf } from '../timeline/options.ts';
import { factsOf } from '../timeline/request-facts.ts';
import { headerChoice } from './header-choice.ts';
import type { ServerEngine } from './server-connection.ts';
import { ServerConnection } from './server-connection.ts';
import type { SocketEngine } from './server-lanes.ts';
import { ServerSocket } from './server-socket.ts';
import { ServerStreams } from './server-streams.ts';

const NO_HEADERS: ReadonlyMap<string, string> = new Map();

/**
 * The view from the process that writes: it knows its own log as far as it was written to somebody.
 * @throws SyntaxError when a profile of the options cannot be read.
 */
export function createServerTimeline(options: TimelineOptions): StreamTimeline {
  const known = profilesOf(options.profiles);
  const { profiles, generic, requestHeaders, responseHeaders } = known;
  const streams = new ServerStreams(
    options.closedStreams ?? 4096,
    new HistoryMemory(options.history),
    options.streamKey,
  );
  const { reconnectWindow = RECONNECT_WINDOW } = options;
  const choose = headerChoice(profiles, generic.sse);
  const engine: ServerEngine = {
    streams,
    reconnectWindow,
    observer: options.observer,
    hashesPayloads: options.identity !== 'id',
    responseHeaders,
    choose,
  };
  const read = (request: StreamRequest): HeaderFacts => ({
    request: factsOf(request, requestHeaders),
    responseHeaders: NO_HEADERS,
    status: undefined,
  });
  const sockets: SocketEngine = {
    streams,
    reconnectWindow,
    observer: options.observer,
    profiles,
    generic: generic.websocket,
    identity: typeof options.identity === 'string' ? options.identity : 'payload',
    responseHeaders,
    decodeBinary: options.decodeBinary,
  };
  return {
    open: (request, at) =>
      request.transport === 'websocket'
        ? new ServerSocket(sockets, request, read(request), at)
        : new ServerConnection(engine, request, read(request), at),
    wants: (request) => {
      if (!known.mayCarryCursor(request)) return false;
      const facts = read(request);
      const subject = subjectOf(facts, []);
      const profile = choose(facts, subject);
      return announces(profile, facts) || claimOf(profile, subject).cursor !== undefined;
    },
  };
}

function announces({ key }: CompiledProfile, { request }: HeaderFacts): boolean {
  return announcesMove(request) && key?.test(request.path) === true;
}
