import type { TimelineStep } from '@sameriver/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Taps, WsPeer } from '../test/harness.ts';
import { CLIENTS, connect, startTaps, wsPeer } from '../test/harness.ts';

let taps: Taps;
let peer: WsPeer;

beforeEach(async () => {
  taps = startTaps();
  peer = await wsPeer(
    (socket) => {
      socket.send('greeting');
      socket.on('message', (data) => {
        socket.send(`got ${data}`);
        socket.close(4001, 'enough');
      });
    },
    {
      // Not 401, to which undici answers by asking once more.
      verifyClient: ({ req }, answer) => answer(req.url !== '/no', 403),
    },
  );
});
afterEach(async () => {
  taps.stop();
  await peer.close();
});

/** A whole exchange, and a handshake that is refused, as the application sees them. */
async function use(library: (typeof CLIENTS)[number]): Promise<unknown[]> {
  const seen: unknown[] = [];
  const socket = connect(library, peer.url);
  socket.onopen = () => socket.send('hello');
  socket.onmessage = ({ data }) => seen.push(data);
  await new Promise<void>((resolve) => {
    socket.onclose = ({ code, reason }) => {
      seen.push([code, reason]);
      resolve();
    };
  });
  const refused = connect(library, `${peer.url}/no`);
  await new Promise<void>((resolve) => refused.addEventListener('error', () => resolve()));
  seen.push(refused.readyState > 0 || 'refused while connecting');
  return seen;
}

const EVERYTHING = ['greeting', 'got hello', [4001, 'enough']];

const STEPS: readonly TimelineStep[] = [
  'open',
  'response',
  'reads',
  'message',
  'sent',
  'settled',
  'end',
];

describe.each(CLIENTS)('a WebSocket of $name', (library) => {
  describe.each(['client', 'server'] as const)('with a %s timeline', (role) => {
    test.each(STEPS)(
      'that fails at %s works as before, and the failure is counted',
      async (step) => {
        taps[role].timeline.faults.add(step);
        const seen = await use(library);
        expect(seen.slice(0, 3)).toEqual(EVERYTHING);
        const { errors } = taps[role].recorder;
        expect(errors.length).toBeGreaterThan(0);
        expect(new Set(errors)).toEqual(new Set([`${role}_tap`]));
        const sound = taps[role === 'client' ? 'server' : 'client'];
        expect(sound.recorder.errors).toEqual([]);
      },
    );

    test('is followed again once the timeline works', async () => {
      const { timeline, recorder } = taps[role];
      timeline.faults.add('message').add('sent').add('reads');
      await use(library);
      const failures = recorder.errors.length;
      timeline.faults.clear();
      const before = timeline.connections.length;
      await use(library);
      expect(recorder.errors).toHaveLength(failures);
      expect(timeline.connections.length).toBe(before + 2);
      await timeline.until(() => timeline.connections[before]?.over === true);
      expect(timeline.connections[before]?.steps).toEqual([
        'open',
        'response 101',
        'end close:4001',
      ]);
    });

    test('that fails in the middle is followed no further, and ended there', async () => {
      const { timeline } = taps[role];
      timeline.faults.add('message').add('sent');
      await use(library);
      expect(timeline.connections[0]?.steps).toEqual(['open', 'response 101', 'end aborted']);
      expect(timeline.connections[0]?.exchanges).toEqual([]);
    });

    test('that fails when its time is up works as before', async () => {
      const { timeline, recorder } = taps[role];
      timeline.settles = false;
      timeline.faults.add('timeout');
      const socket = connect(library, peer.url);
      await new Promise((resolve) => socket.addEventListener('message', resolve));
      taps[role].elapse();
      expect(recorder.errors).toEqual([`${role}_tap`]);
      const answered = new Promise<unknown>((resolve) => {
        socket.addEventListener('message', ({ data }) => resolve(data));
      });
      socket.send('hello');
      expect(await answered).toBe('got hello');
      await new Promise((resolve) => socket.addEventListener('close', resolve));
    });
  });

  test('works as before when the recorder fails, and when nobody can even be told', async () => {
    const broken = (): never => {
      throw new Error('The recorder was told to fail.');
    };
    for (const { recorder } of [taps.client, taps.server]) {
      Object.assign(recorder, {
        opened: broken,
        noResponse: broken,
        notStream: broken,
        attemptContext: broken,
        carriedBy: broken,
        instrumentationError: broken,
      });
    }
    expect((await use(library)).slice(0, 3)).toEqual(EVERYTHING);
    for (const { timeline } of [taps.client, taps.server]) {
      expect(timeline.connections.length).toBeGreaterThan(0);
      expect(timeline.connections.every(({ over }) => over)).toBe(true);
    }
  });

  test('works as before when the application is asked and throws', async () => {
    for (const host of [taps.client, taps.server]) {
      host.ignore = () => {
        throw new Error('The hook was told to fail.');
      };
    }
    expect((await use(library)).slice(0, 3)).toEqual(EVERYTHING);
    expect(taps.client.recorder.errors).toEqual(['client_tap', 'client_tap']);
    expect(taps.server.recorder.errors).toEqual(['server_tap', 'server_tap']);
  });
});
