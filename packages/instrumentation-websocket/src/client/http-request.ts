import type { ClientRequest } from 'node:http';
import type { StreamRequest } from '@sameriver/core';
import { headerLookup, splitTarget } from '@sameriver/telemetry';
import { isHandshake } from '../is-handshake.ts';

/** @param request Its headers are read when they are asked for. */
export function handshakeOf(request: ClientRequest): StreamRequest {
  const header = (name: string): string | undefined => {
    const value = request.getHeader(name);
    if (value === undefined) return undefined;
    return Array.isArray(value) ? value.join(', ') : String(value);
  };
  const host = header('host') ?? request.host;
  const { origin, target } = splitTarget(`${request.protocol}//${host}`, request.path);
  return { transport: 'websocket', method: request.method, origin, target, header };
}

/** The options that `ws` gives to `http.request`; 7 and 8 name these members. */
interface WsRequestOptions {
  readonly host?: unknown;
  readonly port?: unknown;
  readonly path?: unknown;
  readonly headers?: unknown;
  readonly defaultPort?: unknown;
}

/**
 * The handshake in the arguments of `http.request`, before there is a request object to ask.
 *
 * @returns `undefined` when they are those of any other request.
 */
export function handshakeIn(args: readonly unknown[]): StreamRequest | undefined {
  const [options] = args;
  if (typeof options !== 'object' || options === null || options instanceof URL) return undefined;
  const { headers, host, port, path, defaultPort }: WsRequestOptions = options;
  if (typeof headers !== 'object' || headers === null || !('Upgrade' in headers)) return undefined;
  if (!isHandshake(headers.Upgrade)) return undefined;
  const header = headerLookup(headers);
  const { origin, target } = splitTarget(originOf(host, port, defaultPort, header), String(path));
  return { transport: 'websocket', method: 'GET', origin, target, header };
}

// Like the Host header that Node will write, so that both ways to see a request agree.
function originOf(
  host: unknown,
  port: unknown,
  defaultPort: unknown,
  header: StreamRequest['header'],
): string {
  const protocol = Number(defaultPort) === 443 ? 'https:' : 'http:';
  const named = header('host');
  if (named !== undefined) return `${protocol}//${named}`;
  const name = String(host ?? 'localhost');
  const bracketed = name.includes(':') ? `[${name}]` : name;
  const isUsual = port === undefined || port === '' || Number(port) === Number(defaultPort);
  return `${protocol}//${bracketed}${isUsual ? '' : `:${port}`}`;
}
