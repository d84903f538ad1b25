import { parseArgs } from 'node:util';
import type { Role } from '@sameriver/core';
import type { ClientName } from '../replay/clients/client.ts';
import { CLIENT_NAMES } from '../replay/clients/create-client.ts';
import { UsageError, usageErrorFrom } from './command.ts';

export interface ReplayOptions {
  readonly files: readonly string[];
  readonly format: 'text' | 'json';
  /** `pure`: no sockets, the transcript goes straight to the rules. */
  readonly carriage: 'pure' | 'wire';
  readonly via: ClientName;
  readonly side: Role;
}

const SIDES: readonly Role[] = ['client', 'server'];

export const REPLAY_HELP: string = `Usage: sameriver replay FILE... [OPTIONS]

Plays recorded incidents (transcripts, JSON) to real instrumented clients over loopback sockets,
byte for byte, chunk for chunk and message for message, and prints one verdict for each reconnect.
Server-sent events and WebSockets may follow each other in one incident.

Options:
  --via CLIENT   the client that reads: fetch, eventsource, http, undici read streams over HTTP
                 (default: fetch); ws, undici, global open WebSockets (default: ws; global is the
                 WebSocket of this Node). Where a transcript has both, the other one is the default.
  --side SIDE    whose verdicts are printed: client, server (default: client). A server knows other
                 things than its client, so with --side server the transcript's "expect", which is
                 the client's view, is printed beside the verdict and not compared with it.
  --pure         no sockets: judge the transcript itself, by the same rules
  --json         one JSON line for each file:
                 {"name","reconnects":[{"connection","classification","reason","missed","duplicates"}]}
                 or {"name","skipped":"why"} where that client cannot send what the transcript says
  --help         this text

Exit status: 0 all as expected, 1 a file with "expect" came out otherwise, 2 a bad file or option.
`;

/**
 * @returns The options, or `help` when that is all that was asked for.
 * @throws UsageError for an unknown option, a bad value or a missing file name.
 */
export function parseReplayOptions(args: readonly string[]): ReplayOptions | 'help' {
  const { values, positionals } = parse(args);
  if (values.help === true) return 'help';
  if (positionals.length === 0) throw new UsageError('no FILE given');
  const pure = values.pure === true;
  if (pure && (values.via !== undefined || values.side !== undefined)) {
    throw new UsageError('--pure uses no client and no server: leave --via and --side out');
  }
  return {
    files: positionals,
    format: values.json === true ? 'json' : 'text',
    carriage: pure ? 'pure' : 'wire',
    via: oneOf('--via', values.via ?? 'fetch', CLIENT_NAMES),
    side: oneOf('--side', values.side ?? 'client', SIDES),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        pure: { type: 'boolean' },
        via: { type: 'string' },
        side: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw usageErrorFrom(error);
  }
}

function oneOf<T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  throw new UsageError(`${option} ${JSON.stringify(value)} is none of ${allowed.join(', ')}`);
}
