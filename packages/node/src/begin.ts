import { diag, trace } from '@opentelemetry/api';
import type { Instrumentation } from '@opentelemetry/instrumentation';
import { countInstrumentationError } from '@sameriver/telemetry';
import { apiGlobals, isSdkRegistered } from './api-globals.ts';
import { complain } from './complain.ts';
import type { ReadConfig } from './config/read-config.ts';
import type { SdkMode } from './config/switches.ts';
import { logAsAsked } from './debug-log.ts';
import { createInstrumentations } from './instrumentations.ts';
import { loadOwn } from './lazy.ts';
import type { startOwnSdk } from './own-sdk.ts';
import { processState } from './process-state.ts';

export interface Start extends Omit<ReadConfig, 'problems'> {
  readonly sdk: SdkMode;
  /** Settings that could not be used, each told already. */
  readonly problems: number;
}

/** Switches the instrumentation on, with an SDK of ours behind it where the application has none. */
export function begin({ sdk, problems, ...read }: Start): void {
  const { config } = read;
  const registered = isSdkRegistered();
  if (registered) checkApi();
  const silence = logAsAsked();
  const state = processState();
  state.begun = true;
  const { handedOut } = state;
  const create = (): Instrumentation[] => {
    const instrumentations = handedOut ? [] : createInstrumentations(read);
    for (let i = 0; i < problems; i += 1) countInstrumentationError('config', config.metrics);
    const names = instrumentations.map(({ instrumentationName }) => instrumentationName);
    tell(names.length === 0 ? 'no stream is followed' : `followed by ${names.join(' and ')}`);
    silence();
    return instrumentations;
  };
  if (registered || sdk === 'off') {
    tell(registered ? 'SDK: of the application' : 'SDK: none, until the application starts one');
    create();
  } else {
    tell('SDK: our own, as the OTEL_* variables say');
    loadOwn<{ readonly startOwnSdk: typeof startOwnSdk }>('own-sdk').startOwnSdk(create);
  }
}

function tell(what: string): void {
  diag.createComponentLogger({ namespace: '@sameriver/node' }).debug(what);
}

/**
 * Copies of the API that differ in their minor version do not see each other's SDK: the older one
 * registered it, ours is newer and finds nothing.
 */
function checkApi(): void {
  const { trace: registered, version } = apiGlobals();
  if (registered === undefined || registered === trace.getTracerProvider()) return;
  complain(
    `nothing will be recorded: the application's SDK uses @opentelemetry/api ${String(version)}, ` +
      'this package a newer copy. Install one version of @opentelemetry/api for both.',
  );
}
