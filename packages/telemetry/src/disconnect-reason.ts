import type { ConnectionEnd, StreamConnection } from '@sameriver/core';
import type { DisconnectReason } from './names.ts';

const CLOSE_CODES: Readonly<Record<number, DisconnectReason>> = {
  1000: 'close_normal',
  1001: 'close_going_away',
  1002: 'close_protocol_error',
  1003: 'close_protocol_error',
  1005: 'close_no_status',
  1006: 'close_abnormal',
  1007: 'close_protocol_error',
  1008: 'close_policy',
  1009: 'close_too_big',
  1010: 'close_protocol_error',
  1011: 'close_server_error',
  1012: 'close_restart',
  1013: 'close_restart',
  1014: 'close_server_error',
  1015: 'close_protocol_error',
};

/** Puts close codes into buckets: the four thousand codes an application may use are no label. */
export function disconnectReason(
  end: ConnectionEnd,
  connection: Pick<StreamConnection, 'protocol' | 'retry'>,
): DisconnectReason {
  switch (end) {
    case 'eof':
      return isPolling(connection) ? 'polling' : 'eof';
    case 'reset':
    case 'aborted':
    case 'idle_timeout':
    case 'open':
      return end;
    default:
      return closeReason(Number(end.slice('close:'.length)));
  }
}

/**
 * An MCP server that wants to be polled says `retry` with its priming event, and closes the stream
 * (2025-11-25). A plain server says `retry` and closes for any reason.
 */
function isPolling({ protocol, retry }: Pick<StreamConnection, 'protocol' | 'retry'>): boolean {
  return protocol === 'mcp-2025' && retry !== undefined;
}

function closeReason(code: number): DisconnectReason {
  const known = CLOSE_CODES[code];
  if (known !== undefined) return known;
  if (code >= 3000 && code <= 3999) return 'close_registered';
  if (code >= 4000 && code <= 4999) return 'close_application';
  return 'close_other';
}
