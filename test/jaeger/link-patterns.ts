/** An entry of `linkPatterns` in the UI configuration of Jaeger, as far as strings go. */
export interface LinkPattern {
  readonly type: string;
  readonly key: string;
  readonly url: string;
  readonly text: string;
}

const PARAMETER = /#\{([^{}]*)\}/g;

/** The address behind a tag of a span; absent where the pattern does not apply, as in Jaeger's UI. */
export function linkOf(
  { type, key, url }: LinkPattern,
  tags: Readonly<Record<string, unknown>>,
): string | undefined {
  const parameters = [...url.matchAll(PARAMETER)].map(([, name = '']) => name);
  if (type !== 'tags' || !(key in tags)) return undefined;
  if (parameters.some((name) => !(name in tags))) return undefined;
  return url.replaceAll(PARAMETER, (_, name: string) => encodeURIComponent(String(tags[name])));
}
