import { createRequire } from 'node:module';
import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import type { InstrumentationModuleDefinition } from '@opentelemetry/instrumentation';
import {
  InstrumentationBase,
  InstrumentationNodeModuleDefinition,
} from '@opentelemetry/instrumentation';
import type { StopTap, StreamRecorder, Taps } from '@sameriver/telemetry';
import { createRecorder, httpFronts, startTaps } from '@sameriver/telemetry';
import { startClientTap } from './client/client-tap.ts';
import { undiciModuleDefinition } from './client/undici-classes.ts';
import { decodeBinary } from './decode-binary.ts';
import { addLoadedCopies } from './loaded-copies.ts';
import { startServerTap } from './server/server-tap.ts';
import type { WebSocketInstrumentationConfig } from './types.ts';
import { visibility } from './visibility.ts';
import { wsModuleDefinition } from './ws-copies.ts';

const { name: NAME, version: VERSION } = createRequire(import.meta.url)('../package.json') as {
  readonly name: string;
  readonly version: string;
};

const TAPS: Taps = { client: startClientTap, server: startServerTap };

// Not imported by name: `@opentelemetry/api` has it since 1.10 only.
type LoggerProvider = Parameters<InstrumentationBase['setLoggerProvider']>[0];

/**
 * Judges every reconnect of the WebSockets that a process opens and accepts, and tells the verdict
 * on spans and in metrics. List it after the HTTP instrumentations, so that their spans hang below
 * the attempts that they belong to. A configuration set later takes effect when it is next enabled.
 *
 * @throws SyntaxError when a profile of the configuration cannot be read.
 */
export class WebSocketInstrumentation extends InstrumentationBase<WebSocketInstrumentationConfig> {
  // Declared only: the base constructor calls enable(), and an initialiser would run after it and
  // wipe what it stored.
  declare private _recorder: StreamRecorder | undefined;
  declare private _stopTaps: StopTap | undefined;

  constructor(config: WebSocketInstrumentationConfig = {}) {
    super(NAME, VERSION, config);
  }

  protected override init(): InstrumentationModuleDefinition[] {
    const { client = true } = this.getConfig();
    const ofClients = client ? [undiciModuleDefinition(), ...httpModuleDefinitions()] : [];
    return [wsModuleDefinition(), ...ofClients];
  }

  override enable(): void {
    super.enable();
    if (this._stopTaps !== undefined) return;
    const config = this.getConfig();
    this._recorder ??= this._createRecorder(config);
    addLoadedCopies();
    const options = { decodeBinary, ...config };
    this._stopTaps = startTaps('websocket', TAPS, options, this._recorder);
    for (const line of visibility(config)) this._diag.debug(line);
  }

  override disable(): void {
    super.disable();
    this._stopTaps?.();
    this._stopTaps = undefined;
    this._recorder?.disable();
  }

  override setTracerProvider(provider: TracerProvider): void {
    super.setTracerProvider(provider);
    this._recorder?.setTracer(this.tracer);
  }

  override setMeterProvider(provider: MeterProvider): void {
    super.setMeterProvider(provider);
    this._recorder?.setMeterProvider(provider);
  }

  override setLoggerProvider(provider: LoggerProvider): void {
    super.setLoggerProvider(provider);
    this._recorder?.setLogger(this.logger);
  }

  private _createRecorder(config: WebSocketInstrumentationConfig): StreamRecorder {
    const { client = true, server = true } = config;
    const roles = [...(client ? ['client' as const] : []), ...(server ? ['server' as const] : [])];
    const transport = 'websocket';
    const recorder = createRecorder({ ...config, name: NAME, version: VERSION, roles, transport });
    recorder.setLogger(this.logger);
    return recorder;
  }
}

function httpModuleDefinitions(): InstrumentationNodeModuleDefinition[] {
  return httpFronts.map(
    ({ name, patch }) => new InstrumentationNodeModuleDefinition(name, ['*'], patch),
  );
}
