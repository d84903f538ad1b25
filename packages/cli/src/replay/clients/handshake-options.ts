import type { ClientRequest } from './client.ts';

/** A handshake in the words of a WebSocket's constructor. */
export interface HandshakeOptions {
  readonly url: string;
  /** Sub-protocols, in order. */
  readonly protocols: string[];
  /** All other headers that the application adds. */
  readonly headers: Record<string, string>;
}

export function handshakeOptions({ origin, target, headers }: ClientRequest): HandshakeOptions {
  const { 'sec-websocket-protocol': offered, ...others } = headers;
  return {
    url: origin.replace(/^http/, 'ws') + target,
    protocols: offered === undefined ? [] : offered.split(',').map((name) => name.trim()),
    headers: others,
  };
}
