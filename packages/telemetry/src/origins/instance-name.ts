import { hostname } from 'node:os';

const LONGEST = 128;
const ATTRIBUTE = /(?:^|,)\s*service\.instance\.id\s*=\s*([^,]*)/;

/** `service.instance.id` where the standard variable names it, else host and process id. */
export function instanceName(env: NodeJS.ProcessEnv = process.env): string {
  const given = ATTRIBUTE.exec(env['OTEL_RESOURCE_ATTRIBUTES'] ?? '')?.[1]?.trim();
  return (decoded(given) || `${hostname()}:${process.pid}`).slice(0, LONGEST);
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text && decodeURIComponent(text);
  } catch {
    return text;
  }
}
