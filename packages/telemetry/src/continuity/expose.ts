export const CONTINUITY_HEADER = 'Stream-Continuity';

/**
 * What `Access-Control-Expose-Headers` must say so that a page may read the field, where the
 * application allows a page of another origin to read anything.
 *
 * @returns `undefined` where nothing is to be added: the origin is not allowed, or the field is
 *   named already. A `*` does not reach requests with credentials, so it is not relied on there.
 */
export function exposedHeaders(header: (name: string) => string | undefined): string | undefined {
  if (header('access-control-allow-origin') === undefined) return undefined;
  const exposed = header('access-control-expose-headers');
  const names = exposed?.split(',').map((name) => name.trim().toLowerCase()) ?? [];
  const isNamed = names.includes(CONTINUITY_HEADER.toLowerCase());
  const withCredentials = header('access-control-allow-credentials') === 'true';
  if (isNamed || (names.includes('*') && !withCredentials)) return undefined;
  return exposed ? `${exposed}, ${CONTINUITY_HEADER}` : CONTINUITY_HEADER;
}

const EVENT_STREAM = /^\s*text\/event-stream\s*(?:;|$)/i;

export function isEventStream(contentType: string | undefined): boolean {
  return EVENT_STREAM.test(contentType ?? '');
}

/** `none` is no coding, but graphql-sse says it to keep proxies from compressing. */
const PLAIN: ReadonlySet<string> = new Set(['identity', 'none']);

/** Only a plain body takes a frame of ours: another coding, or a promised length, would be broken. */
export function takesFrame(header: (name: string) => string | undefined): boolean {
  const coding = header('content-encoding') ?? 'identity';
  return PLAIN.has(coding) && header('content-length') === undefined;
}
