import { DiagConsoleLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { apiGlobals } from './api-globals.ts';

/**
 * Lets our own start be seen under `OTEL_LOG_LEVEL`, where nobody else has set a logger.
 *
 * @returns Takes the logger away again, for an SDK that sets its own and complains of any other.
 */
export function logAsAsked(): () => void {
  const level = process.env['OTEL_LOG_LEVEL']?.trim().toUpperCase();
  const known = Object.entries(DiagLogLevel).find(([name]) => name === level)?.[1];
  if (typeof known !== 'number' || apiGlobals().diag !== undefined) return () => {};
  diag.setLogger(new DiagConsoleLogger(), known);
  return () => diag.disable();
}
