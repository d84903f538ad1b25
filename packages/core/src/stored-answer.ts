import type { HeaderLookup } from './connection.ts';

const POSITIVE = /^\s*0*[1-9]/;
const HIT = /\bhit\b/i;

/**
 * Whether a cache gave an answer that was made for an earlier request: by `Age` (RFC 9111 §5.1), by
 * `Cache-Status` (RFC 9211), or by the field of which most caches make use. An age of 0 is what some
 * proxies put on everything.
 */
export function isStoredAnswer(header: HeaderLookup): boolean {
  const age = header('age');
  if (age !== undefined && POSITIVE.test(age)) return true;
  return ['cache-status', 'x-cache', 'cf-cache-status'].some((name) =>
    HIT.test(header(name) ?? ''),
  );
}
