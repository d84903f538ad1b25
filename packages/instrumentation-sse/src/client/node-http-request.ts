import type { ClientRequest, IncomingMessage } from 'node:http';
import type { HeaderLookup, StreamRequest } from '@sameriver/core';
import { headerLookup } from './headers.ts';
import { splitTarget } from './target.ts';

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
    if (value === undefined) return inHead(request, name);
    return Array.isArray(value) ? value.join(', ') : String(value);
  };
}

// Headers given as a list are never put into the table that getHeader reads, only into the text.
function inHead(request: ClientRequest, name: string): string | undefined {
  const { _header: head } = request as ClientRequest & { readonly _header?: unknown };
  return typeof head === 'string' ? headerLookup(head)(name) : undefined;
}

export function responseHeaders(response: IncomingMessage): HeaderLookup {
  return headerLookup(response.rawHeaders);
}
