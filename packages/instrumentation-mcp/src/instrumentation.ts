import { createRequire } from 'node:module';
import { InstrumentationBase } from '@opentelemetry/instrumentation';
import type { Role } from '@sameriver/core';
import { addFacet, countInstrumentationError, epochCapture } from '@sameriver/telemetry';
import { mcpFacet } from './mcp-facet.ts';
import { keepRequestBodies } from './request-bodies.ts';
import type { McpInstrumentationConfig } from './types.ts';

const { name: NAME, version: VERSION } = createRequire(import.meta.url)('../package.json') as {
  readonly name: string;
  readonly version: string;
};

/**
 * Describes the event streams of MCP, on the spans of the instrumentation that follows event
 * streams: protocol version, session, method and request id. It makes no span and counts nothing by
 * itself, so that no stream is counted twice.
 */
export class McpInstrumentation extends InstrumentationBase<McpInstrumentationConfig> {
  // Declared only: the base constructor calls enable(), and an initialiser would run after it and
  // wipe what it stored.
  declare private _stops: (() => void)[] | undefined;

  constructor(config: McpInstrumentationConfig = {}) {
    super(NAME, VERSION, config);
  }

  protected override init(): [] {
    return [];
  }

  override enable(): void {
    super.enable();
    if (this._stops !== undefined) return;
    const { client = true, server = true, capture } = this.getConfig();
    const roles: Role[] = [];
    if (client) roles.push('client');
    if (server) roles.push('server');
    const session = epochCapture(capture?.epoch, true);
    this._stops = [addFacet(mcpFacet({ roles, session }))];
    const failed = (): void => countInstrumentationError('server_tap');
    if (server) this._stops.push(keepRequestBodies(failed));
  }

  override disable(): void {
    super.disable();
    for (const stop of this._stops ?? []) stop();
    this._stops = undefined;
  }
}
