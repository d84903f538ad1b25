// What undici reports when the application closed its own dispatcher.
const ASKED_FOR: ReadonlySet<string> = new Set([
  'ABORT_ERR',
  'UND_ERR_ABORTED',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
]);

// System errors are upper case throughout (`ECONNRESET`); the rest name their maker.
const OF_THE_NETWORK = /^(?:E[A-Z0-9]+|UND_ERR_\w+|HPE_\w+|ERR_(?:HTTP2|SSL|TLS|STREAM)_\w+)$/;

/** A value for `error.type`: the code of the error when it is one of a closed kind. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof Error && error.name === 'AbortError') return 'aborted';
  const code = codeIn(error) ?? codeIn((error as { readonly cause?: unknown } | null)?.cause);
  if (code === undefined) return '_OTHER';
  if (ASKED_FOR.has(code)) return 'aborted';
  return OF_THE_NETWORK.test(code) ? code : '_OTHER';
}

function codeIn(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
