/** Where a request goes, as two parts that joined are its URL. */
export interface Target {
  /** `http:` or `https:`, also for the handshake of a WebSocket. */
  readonly origin: string;
  /** Path and query exactly as sent. */
  readonly target: string;
}

const ORIGIN_OF_URL = /^(?:https?|wss?):\/\/[^/?#]*/i;

/** @param path A path, or the whole URL that a request to an HTTP proxy names in its first line. */
export function splitTarget(origin: string, path: string): Target {
  const whole = ORIGIN_OF_URL.exec(path)?.[0];
  if (whole !== undefined)
    return { origin: asHttp(whole), target: path.slice(whole.length) || '/' };
  return { origin: asHttp(origin.endsWith('/') ? origin.slice(0, -1) : origin), target: path };
}

/** Attributes that OpenTelemetry names for the two ends of an HTTP request; no query. */
export function httpAttributes(
  method: string,
  origin: string,
): { 'http.request.method': string; 'server.address'?: string; 'server.port'?: number } {
  const url = URL.parse(origin);
  if (url === null) return { 'http.request.method': method };
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { 'http.request.method': method, 'server.address': url.hostname, 'server.port': port };
}

function asHttp(origin: string): string {
  return origin.replace(/^ws/i, 'http');
}
