import type { JudgedReconnect, Role, Transcript } from '@sameriver/core';
import { judgeTranscript } from '@sameriver/core';
import type { ClientName } from './clients/client.ts';
import { CannotSend } from './clients/client.ts';
import { clientsFor, createClient, createSocketClient } from './clients/create-client.ts';
import { play } from './player.ts';
import { startScriptedServer } from './scripted-server.ts';
import { startWatch } from './watch.ts';
import type { Attempt } from './wire-script.ts';
import { wireScript } from './wire-script.ts';

export type Replayed =
  | { readonly kind: 'judged'; readonly reconnects: readonly JudgedReconnect[] }
  /** The client, or the protocol itself, cannot send what the transcript says. */
  | { readonly kind: 'skipped'; readonly why: string };

export interface ReplayTranscriptOptions {
  readonly carriage: 'pure' | 'wire';
  /** The other transport gets its default client. */
  readonly via: ClientName;
  readonly side: Role;
}

/**
 * Judges one transcript apart from every other: its own server, client, instrumentation, history.
 *
 * @throws ReplayStuck when a client stops without a reason.
 */
export async function replayTranscript(
  transcript: Transcript,
  options: ReplayTranscriptOptions,
): Promise<Replayed> {
  if (options.carriage === 'pure') {
    return { kind: 'judged', reconnects: judgeTranscript(transcript) };
  }
  const script = wireScript(transcript);
  if (script.kind === 'skipped') return script;
  try {
    return await overTheWire(script.attempts, transcript, options);
  } catch (error) {
    if (error instanceof CannotSend) return { kind: 'skipped', why: error.message };
    throw error;
  }
}

async function overTheWire(
  attempts: readonly Attempt[],
  transcript: Transcript,
  { via, side }: ReplayTranscriptOptions,
): Promise<Replayed> {
  // First of all: libraries are hooked as they are loaded.
  const watched = startWatch(side, transcript);
  const names = clientsFor(via);
  const client = await createClient(names.stream);
  const sockets = createSocketClient(names.socket);
  const server = await startScriptedServer();
  try {
    await play(attempts, { client, sockets, server, watched });
  } finally {
    await client.close();
    await sockets.close();
    await server.close();
    watched.stop();
  }
  return { kind: 'judged', reconnects: watched.verdicts() };
}
