import type { HeaderLookup, StreamRequest } from '@sameriver/core';
import { headerLookup, splitTarget } from '@sameriver/telemetry';

/** The members of the options of `http.request` that say where it goes. */
interface HttpOptions {
  readonly protocol?: unknown;
  readonly hostname?: unknown;
  readonly host?: unknown;
  readonly port?: unknown;
  readonly path?: unknown;
  readonly method?: unknown;
  readonly headers?: unknown;
}

const DEFAULT_PORTS = { 'http:': 80, 'https:': 443 };

/**
 * Reads the arguments of `http.request(url?, options?, callback?)` as Node reads them, before there
 * is a request object to ask.
 *
 * @returns `undefined` for a URL that Node will refuse.
 */
export function requestArguments(
  protocol: 'http:' | 'https:',
  args: readonly unknown[],
): StreamRequest | undefined {
  const [first, second] = args;
  const url = typeof first === 'string' ? URL.parse(first) : first instanceof URL ? first : 'none';
  if (url === null) return undefined;
  const given = optionsIn(url === 'none' ? first : second);
  const header = headerLookup(given.headers);
  const base: HttpOptions = url === 'none' ? {} : fromUrl(url);
  const path = String(given.path ?? base.path ?? '/');
  const { origin, target } = splitTarget(originOf(protocol, { ...base, ...given }, header), path);
  const method = typeof given.method === 'string' ? given.method.toUpperCase() : 'GET';
  return { transport: 'sse', method, origin, target, header };
}

function optionsIn(value: unknown): HttpOptions {
  return typeof value === 'object' && value !== null ? value : {};
}

function fromUrl(url: URL): HttpOptions {
  return { hostname: url.hostname, port: url.port, path: url.pathname + url.search };
}

// Like the Host header that Node will write, so that both ways to see a request agree.
function originOf(protocol: 'http:' | 'https:', to: HttpOptions, header: HeaderLookup): string {
  const named = header('host');
  if (named !== undefined) return `${protocol}//${named}`;
  const host = String(to.hostname ?? to.host ?? 'localhost');
  const bracketed = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  const port = to.port === undefined || to.port === null || to.port === '' ? 0 : Number(to.port);
  const usual = port === 0 || port === DEFAULT_PORTS[protocol];
  return `${protocol}//${bracketed}${usual ? '' : `:${port}`}`;
}
