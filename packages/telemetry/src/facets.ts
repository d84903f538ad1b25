import type { Attributes } from '@opentelemetry/api';
import type {
  HeaderLookup,
  Role,
  StreamConnection,
  StreamRequest,
  StreamTimeline,
} from '@sameriver/core';
import { processWide } from '@sameriver/core';
import type { StreamRecorder } from './types.ts';

interface FirstEvent {
  readonly name: string;
  readonly data: string | undefined;
}

/**
 * What a protocol says of the streams that a transport carries. It opens no stream and counts none:
 * whoever taps the transport does, and its spans get these attributes as well.
 */
export interface StreamFacet {
  /** An attempt begins. @returns Attributes for samplers; `undefined` where it is another protocol. */
  asked(request: StreamRequest, role: Role): Attributes | undefined;
  /** Its answer is there, and the body of the request is known by now. Takes lower-case names. */
  answered(request: StreamRequest, header: HeaderLookup): Attributes;
  /**
   * The first event of an answer is there, and its verdict is not. Asked of each stream that begins
   * with a name or a comment.
   *
   * @returns `undefined` where it is another protocol.
   */
  opened?(request: StreamRequest, role: Role, event: FirstEvent): Attributes | undefined;
}

const facets = processWide('facets', () => new Set<StreamFacet>());

/** @returns Takes it away again. */
export function addFacet(facet: StreamFacet): () => void {
  facets.add(facet);
  return () => void facets.delete(facet);
}

const requests = new WeakMap<StreamConnection, StreamRequest>();
const remembering = new WeakMap<StreamTimeline, StreamTimeline>();

/** The same timeline for whoever feeds it, and the requests of its connections for the facets. */
export function withRequests(timeline: StreamTimeline): StreamTimeline {
  const known = remembering.get(timeline);
  if (known !== undefined) return known;
  const fed: StreamTimeline = {
    wants: (request) => timeline.wants(request),
    open: (request, at) => {
      const connection = timeline.open(request, at);
      if (facets.size > 0) requests.set(connection, request);
      return connection;
    },
  };
  remembering.set(timeline, fed);
  return fed;
}

/** Puts the facets of the process before a recorder: they hear of an attempt when it does. */
export function withFacets(recorder: StreamRecorder): StreamRecorder {
  function attributesOf(connection: StreamConnection): Attributes | undefined {
    const request = requests.get(connection);
    if (request === undefined) return undefined;
    requests.delete(connection);
    let all: Attributes | undefined;
    for (const facet of facets) {
      const own = facet.asked(request, connection.role);
      if (facet.opened !== undefined) beforeVerdict(connection, request, facet);
      if (own === undefined) continue;
      all = { ...all, ...own };
      beforeResponse(connection, (header) => {
        guarded(recorder, () => recorder.describe(connection, facet.answered(request, header)));
      });
    }
    return all;
  }

  function beforeVerdict(
    connection: StreamConnection,
    request: StreamRequest,
    facet: StreamFacet,
  ): void {
    const before = connection.opensWith;
    connection.opensWith = (name, data) => {
      before?.(name, data);
      guarded(recorder, () => {
        const more = facet.opened?.(request, connection.role, { name, data });
        if (more !== undefined) recorder.describe(connection, more);
      });
    };
  }

  return {
    ...recorder,
    opened: (connection, start) => {
      const own = facets.size === 0 ? undefined : guarded(recorder, () => attributesOf(connection));
      const told = own && { ...start, attributes: { ...own, ...start.attributes } };
      recorder.opened(connection, told ?? start);
    },
  };
}

function guarded<R>(recorder: StreamRecorder, act: () => R): R | undefined {
  try {
    return act();
  } catch {
    recorder.instrumentationError('telemetry');
    return undefined;
  }
}

/**
 * The verdict may be given, and the span ended, by the response itself. What is put on the connection
 * stays: V8 makes slow whatever something was deleted from, and each event goes through it.
 */
function beforeResponse(connection: StreamConnection, tell: (header: HeaderLookup) => void): void {
  const response = connection.response;
  // Let go once told, and the request with it: a stream may stay open for days.
  let pending: typeof tell | undefined = tell;
  connection.response = (status, header) => {
    pending?.(header);
    pending = undefined;
    return response.call(connection, status, header);
  };
}

/** Bodies of requests that a server is sent, by their request object, where somebody reads them. */
export const requestBodies: WeakMap<object, () => unknown> = processWide(
  'request-bodies',
  () => new WeakMap(),
);
