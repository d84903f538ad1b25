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

/**
 * What a protocol says of the streams that a transport carries. It opens no stream and counts none:
 * whoever taps the transport does, and its spans get these attributes as well.
 */
export interface StreamFacet {
  /** An attempt begins. @returns Attributes for samplers; `undefined` where it is another protocol. */
  asked(request: StreamRequest, role: Role): Attributes | undefined;
  /** Its answer is there, and the body of the request is known by now. Takes lower-case names. */
  answered(request: StreamRequest, header: HeaderLookup): Attributes;
}

const facets = processWide('facets', () => new Set<StreamFacet>());

/** @returns Takes it away again. */
export function addFacet(facet: StreamFacet): () => void {
  facets.add(facet);
  return () => void facets.delete(facet);
}

type Recorder = Pick<StreamRecorder, 'opened' | 'describe' | 'instrumentationError'>;

/** Puts the facets of the process between a tap and what it feeds. */
export function faceted<R extends Recorder>(
  role: Role,
  timeline: StreamTimeline,
  recorder: R,
): { readonly timeline: StreamTimeline; readonly recorder: R } {
  const asked = new WeakMap<StreamConnection, Attributes>();

  function guarded(act: () => void): void {
    try {
      act();
    } catch {
      recorder.instrumentationError('telemetry');
    }
  }

  function follow(facet: StreamFacet, request: StreamRequest, connection: StreamConnection): void {
    const attributes = facet.asked(request, role);
    if (attributes === undefined) return;
    asked.set(connection, { ...asked.get(connection), ...attributes });
    beforeResponse(connection, (header) => {
      guarded(() => recorder.describe(connection, facet.answered(request, header)));
    });
  }

  return {
    timeline: {
      wants: (request) => timeline.wants(request),
      open: (request, at) => {
        const connection = timeline.open(request, at);
        for (const facet of facets) guarded(() => follow(facet, request, connection));
        return connection;
      },
    },
    recorder: {
      ...recorder,
      opened: (connection, start) => {
        const attributes = { ...asked.get(connection), ...start.attributes };
        recorder.opened(connection, asked.has(connection) ? { ...start, attributes } : start);
      },
    },
  };
}

/** The verdict may be given, and the span ended, by the response itself. */
function beforeResponse(connection: StreamConnection, tell: (header: HeaderLookup) => void): void {
  const response = connection.response;
  connection.response = (status, header) => {
    if (Object.hasOwn(connection, 'response')) Reflect.deleteProperty(connection, 'response');
    tell(header);
    return response.call(connection, status, header);
  };
}

/** Bodies of requests that a server is sent, by their request object, where somebody reads them. */
export const requestBodies: WeakMap<object, () => unknown> = processWide(
  'request-bodies',
  () => new WeakMap(),
);
