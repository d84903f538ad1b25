import type { ClientRequest, IncomingMessage } from 'node:http';
import type { HeaderLookup, StreamRequest } from '@sameriver/core';
import { headerLookup, splitTarget } from '@sameriver/telemetry';

/** @param request Its headers may still change until it is sent; they are read when asked for. */
export function streamRequestOf(request: ClientRequest): StreamRequest {
  const header = requestHeaders(request);
  const host = header('host') ?? request.host;
  const { origin, target } = splitTarget(`${request.protocol}//${host}`, request.path);
  return { transport: 'sse', method: request.method, origin, target, header };
}

export function requestHeaders(request: ClientRequest): HeaderLookup {
  return (name) => {
    const value = request.getHeader(name);
    if (Array.isArray(value)) return value.join(', ');
    if (value !== undefined) return String(value);
    // Headers given as a list are never put into the table that getHeader reads, not even the one
    // that each request has; only into the text.
    return request.hasHeader('host') ? undefined : inHead(request, name);
  };
}

function inHead(request: ClientRequest, name: string): string | undefined {
  const { _header: head } = request as ClientRequest & { readonly _header?: unknown };
  return typeof head === 'string' ? headerLookup(head)(name) : undefined;
}

export function responseHeaders(response: IncomingMessage): HeaderLookup {
  return headerLookup(response.rawHeaders);
}
