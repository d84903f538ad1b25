import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { HeaderLookup, StreamConnection, StreamRequest } from '@sameriver/core';
import { createServerTimeline } from '@sameriver/core';
import { afterEach, describe, expect, test } from 'vitest';
import type { Telemetry } from '../test/harness.ts';
import { disableRecorders, moved, telemetry } from '../test/harness.ts';
import type { StreamFacet } from './facets.ts';
import { addFacet, withFacets, withRequests } from './facets.ts';

const stops: Array<() => void> = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  disableRecorders();
});

const SOUND: StreamFacet = {
  asked: () => ({ 'facet.asked': true }),
  answered: () => ({ 'facet.answered': true }),
};

function toldToFail(): never {
  throw new Error('told to fail');
}

const HEADERS: Readonly<Record<string, string>> = { 'last-event-id': '1' };
const REQUEST: StreamRequest = {
  transport: 'sse',
  method: 'GET',
  origin: '',
  target: '/feed',
  header: (name) => HEADERS[name],
};

const isStream: HeaderLookup = (name) =>
  name === 'content-type' ? 'text/event-stream' : undefined;

/** A reconnect of one stream with these facets, as a tap feeds it. */
function follow({ recorder }: Telemetry, ...facets: readonly StreamFacet[]): StreamConnection {
  for (const facet of facets) stops.push(addFacet(facet));
  const timeline = withRequests(createServerTimeline({ observer: recorder }));
  const connection = timeline.open(REQUEST, 0);
  withFacets(recorder).opened(connection, { context: ROOT_CONTEXT });
  connection.response(200, isStream);
  connection.push(Buffer.from('id: 2\ndata: two\n\n'));
  connection.end('eof', 1);
  return connection;
}

describe('what a protocol says of a stream', () => {
  test('stands on the spans of whoever follows it', () => {
    const t = telemetry();
    follow(t, SOUND);
    const [span] = t.spans();
    expect(span?.attributes).toMatchObject({ 'facet.asked': true, 'facet.answered': true });
  });

  test.each<keyof StreamFacet>(['asked', 'answered'])(
    'costs the spans nothing else when it fails at %s, and is counted',
    async (step) => {
      const t = telemetry();
      const connection = follow(t, { ...SOUND, [step]: toldToFail });
      expect(connection.events).toBe(1);
      const [span] = t.spans();
      expect(span?.attributes['event_stream.classification']).toBe('unverifiable');
      expect(await moved(t.reader, 'event_stream.instrumentation.errors')).toEqual({
        'reason=telemetry': 1,
      });
    },
  );
});
