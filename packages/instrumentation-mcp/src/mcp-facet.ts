import type { Attributes } from '@opentelemetry/api';
import type { HeaderLookup, Role, StreamRequest } from '@sameriver/core';
import type { Capture, StreamFacet } from '@sameriver/telemetry';
import {
  ATTR_JSONRPC_REQUEST_ID,
  ATTR_MCP_ERA,
  ATTR_MCP_METHOD_NAME,
  ATTR_MCP_PROTOCOL_VERSION,
  ATTR_MCP_SESSION_ID,
  ATTR_MCP_STREAM,
  captured,
} from '@sameriver/telemetry';

const SESSION = 'mcp-session-id';
const VERSION = 'mcp-protocol-version';
/** 2026-07-28 has it on every POST. */
const METHOD = 'mcp-method';
const FIRST_WITHOUT_SESSIONS = '2026-07-28';
const HTTP_WITH_SSE = '2024-11-05';
/** Where its event `endpoint` says that messages go; each SDK puts the session there. */
const ENDPOINT = /^[^\s?]*\?(?:\S*&)?session_?id=([^&\s]+)\S*$/i;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export interface McpFacetOptions {
  readonly roles: readonly Role[];
  readonly session: Capture;
}

/**
 * What MCP over streamable HTTP says in headers and in the JSON-RPC message of a request, by the
 * names of OpenTelemetry. Nothing of an SDK is looked at, so each of them will do.
 */
export function mcpFacet({ roles, session }: McpFacetOptions): StreamFacet {
  return {
    asked(request, role) {
      if (!roles.includes(role) || !mayBeMcp(request)) return undefined;
      return ofHeaders(request, session);
    },
    answered(request, header) {
      return {
        ...ofMessage(messageOf(request)),
        ...(isMcp(request, header) && ofStream(request)),
        ...ofSession(header(SESSION), session),
      };
    },
    opened({ method, header }, role, { name, data = '' }) {
      if (!roles.includes(role) || method !== 'GET' || name !== 'endpoint') return undefined;
      const id = ENDPOINT.exec(data)?.[1];
      if (id === undefined) return undefined;
      const version = header(VERSION);
      return {
        [ATTR_MCP_PROTOCOL_VERSION]: version && DATE.test(version) ? version : HTTP_WITH_SSE,
        [ATTR_MCP_ERA]: 'http_sse',
        [ATTR_MCP_STREAM]: 'standalone',
        ...ofSession(id, session),
      };
    },
  };
}

function mayBeMcp({ method, header }: StreamRequest): boolean {
  if (header(SESSION) !== undefined || header(VERSION) !== undefined) return true;
  // The request that begins a session carries neither; MCP asks that it accept both.
  const accept = method === 'POST' ? header('accept') : undefined;
  return accept?.includes('text/event-stream') === true && accept.includes('application/json');
}

function isMcp({ header }: StreamRequest, answer: HeaderLookup): boolean {
  return [header(SESSION), header(VERSION), answer(SESSION)].some((value) => value !== undefined);
}

function ofHeaders({ header }: StreamRequest, session: Capture): Attributes {
  const version = header(VERSION);
  const method = header(METHOD);
  return {
    ...(version !== undefined && DATE.test(version) && ofVersion(version)),
    ...ofSession(header(SESSION), session),
    ...(method !== undefined && { [ATTR_MCP_METHOD_NAME]: captured(method, 'raw') }),
  };
}

/** Dates compare as text, and so do the SDKs. */
function ofVersion(version: string): Attributes {
  const era = version >= FIRST_WITHOUT_SESSIONS ? 'stateless' : 'sessions';
  return { [ATTR_MCP_PROTOCOL_VERSION]: version, [ATTR_MCP_ERA]: era };
}

function ofSession(id: string | undefined, how: Capture): Attributes {
  const value = captured(id, how);
  return value === undefined ? {} : { [ATTR_MCP_SESSION_ID]: value };
}

function ofStream({ method, header }: StreamRequest): Attributes {
  if (method === 'POST') return { [ATTR_MCP_STREAM]: 'request' };
  return { [ATTR_MCP_STREAM]: header('last-event-id') ? 'continued' : 'standalone' };
}

interface Message {
  readonly method: unknown;
  readonly id: unknown;
}

function messageOf({ method, body }: StreamRequest): Message | undefined {
  const value = method === 'POST' ? body?.() : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('jsonrpc' in value) || value.jsonrpc !== '2.0') return undefined;
  return { method: 'method' in value && value.method, id: 'id' in value && value.id };
}

function ofMessage(message: Message | undefined): Attributes {
  if (message === undefined) return {};
  const { method, id } = message;
  return {
    ...(typeof method === 'string' && { [ATTR_MCP_METHOD_NAME]: captured(method, 'raw') }),
    ...((typeof id === 'string' || typeof id === 'number') && {
      [ATTR_JSONRPC_REQUEST_ID]: captured(String(id), 'raw'),
    }),
  };
}
