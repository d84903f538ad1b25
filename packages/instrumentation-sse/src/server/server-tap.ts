import type { StopTap, TapHost } from '../tap.ts';
import { tapHttp1 } from './http1.ts';
import { tapHttp2 } from './http2.ts';
import { ServerStreams } from './server-streams.ts';

export function startServerTap(host: TapHost): StopTap {
  const streams = new ServerStreams(host);
  const undo = [tapHttp1(streams), tapHttp2(streams)];
  return () => {
    for (const each of undo) each();
    streams.stop();
  };
}
