import type { StreamConnection, StreamReport } from '../connection.ts';
import { parseJson } from '../json.ts';
import { createClientTimeline } from '../timeline/client-timeline.ts';
import type { Classification, Count, Reason } from '../verdict.ts';
import type { Transcript, TranscriptConnection } from './transcript.ts';
import { encodeSseFrame } from './transcript.ts';

/** One verdict, with the final values of its connection (R16: after revision). */
export interface JudgedReconnect {
  readonly connection: number;
  /** Only where the connection carries several logical streams (R19). */
  readonly stream?: string;
  readonly classification: Classification;
  readonly reason: Reason;
  readonly missed: Count;
  readonly duplicates: Count;
}

/** Incidents carry no times: their connections follow one another well within any window. */
const BETWEEN_CONNECTIONS = 1;

/** Judges a transcript as an ideal client tap would: every byte seen, every end known. */
export function judgeTranscript(transcript: Transcript): JudgedReconnect[] {
  const judged: JudgedReconnect[] = [];
  const indices = new Map<StreamConnection, number>();
  const { profiles, identity, reconnectWindow } = transcript.options;
  const timeline = createClientTimeline({
    ...(profiles && { profiles }),
    ...(identity && { identity }),
    ...(reconnectWindow !== undefined && { reconnectWindow: reconnectWindow * 1000 }),
    observer: {
      settled: () => undefined,
      revised: () => undefined,
      inStream: () => undefined,
      ended: (connection, _end, reports) => {
        judged.push(...judgedFrom(indices.get(connection) ?? -1, reports));
      },
    },
  });
  const stillOpen: StreamConnection[] = [];
  let attempt: StreamConnection | undefined;
  for (const [index, described] of transcript.connections.entries()) {
    const at = index * BETWEEN_CONNECTIONS;
    if (attempt === undefined) attempt = timeline.open(requestOf(described), at);
    else attempt.redirect(requestOf(described));
    indices.set(attempt, index);
    if (isFollowed(described, transcript.connections[index + 1])) continue;
    const connection = attempt;
    attempt = undefined;
    play(connection, described);
    if (described.ends === 'open') {
      connection.timeout();
      stillOpen.push(connection);
    } else connection.end(described.ends, at);
  }
  for (const connection of stillOpen) connection.end('open', Number.MAX_SAFE_INTEGER);
  return judged.sort((a, b) => a.connection - b.connection);
}

/** L6: a redirect and the request that follows it to its location are one attempt. */
export function isFollowed(
  { response }: TranscriptConnection,
  next: TranscriptConnection | undefined,
): boolean {
  if (response === undefined || response.status < 300 || response.status > 399) return false;
  const location = Object.entries(response.headers).find(([k]) => k.toLowerCase() === 'location');
  return location !== undefined && next !== undefined && location[1].endsWith(next.request.path);
}

function play(connection: StreamConnection, described: TranscriptConnection): void {
  const { response, frames, transport } = described;
  if (response === undefined) return;
  if (!connection.response(response.status, lookup(response.headers))) return;
  for (const frame of frames) {
    if (transport === 'sse') connection.push(bytesOf(encodeSseFrame(frame)));
    else if (frame.sent !== undefined) connection.sent(frame.sent);
    else if (frame.recv !== undefined) connection.message(frame.recv);
    else if (frame.recvBase64 !== undefined) connection.message(fromBase64(frame.recvBase64));
  }
}

function requestOf({
  transport,
  request,
}: TranscriptConnection): Parameters<StreamConnection['redirect']>[0] {
  const { body } = request;
  return {
    transport,
    method: request.method,
    origin: 'http://transcript',
    target: request.path,
    header: lookup(request.headers),
    ...(body !== undefined && { body: () => (typeof body === 'string' ? parseJson(body) : body) }),
  };
}

function lookup(headers: Readonly<Record<string, string>>): (name: string) => string | undefined {
  const lower = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return (name) => lower.get(name);
}

function judgedFrom(connection: number, reports: readonly StreamReport[]): JudgedReconnect[] {
  return reports.flatMap(({ stream, verdict, missed, duplicates }) => {
    if (verdict === undefined) return [];
    const named = stream === undefined || reports.length === 1 ? {} : { stream };
    return [{ connection, ...named, ...verdict, missed, duplicates }];
  });
}

declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const atob: (text: string) => string;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
