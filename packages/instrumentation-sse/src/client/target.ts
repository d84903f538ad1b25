/** Where a request goes, as two parts that joined are its URL. */
export interface Target {
  readonly origin: string;
  /** Path and query exactly as sent. */
  readonly target: string;
}

const ORIGIN_OF_URL = /^https?:\/\/[^/?#]*/i;

/** @param path A path, or the whole URL that a request to an HTTP proxy names in its first line. */
export function splitTarget(origin: string, path: string): Target {
  const whole = ORIGIN_OF_URL.exec(path)?.[0];
  if (whole !== undefined) return { origin: whole, target: path.slice(whole.length) || '/' };
  return { origin: origin.endsWith('/') ? origin.slice(0, -1) : origin, target: path };
}

/** Attributes that OpenTelemetry names for the two ends of an HTTP request. */
export function httpAttributes(
  method: string,
  origin: string,
): { 'http.request.method': string; 'server.address'?: string; 'server.port'?: number } {
  const url = URL.parse(origin);
  if (url === null) return { 'http.request.method': method };
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { 'http.request.method': method, 'server.address': url.hostname, 'server.port': port };
}
