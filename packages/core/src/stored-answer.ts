import type { HeaderLookup } from './connection.ts';

const POSITIVE = /^\s*0*[1-9]/;
/**
 * `TCP_HIT` and its like count; `hit-for-pass` is how a cache remembers not to store, and `fwd=stale`
 * (RFC 9211 §2.2) why it asked the origin, whose 304 then says that what is stored still holds.
 */
const STORED = /(?:^|[^a-z=])(?:hit(?!-for)|stale|updating|revalidated|fwd-status=304)\b/i;
const FIELDS: readonly string[] = ['cache-status', 'x-cache', 'x-cache-status', 'cf-cache-status'];

/**
 * Whether a cache gave an answer that was made for an earlier request: by `Age` (RFC 9111 §5.1), by
 * `Cache-Status` (RFC 9211), or by the fields of which most caches make use. An age of 0 is what some
 * proxies put on everything.
 */
export function isStoredAnswer(header: HeaderLookup): boolean {
  const age = header('age');
  if (age !== undefined && POSITIVE.test(age)) return true;
  return FIELDS.some((name) => STORED.test(header(name) ?? ''));
}
