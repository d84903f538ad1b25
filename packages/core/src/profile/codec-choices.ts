import { CODEC_NAMES, codecFromPattern, codecNamed } from '../cursor/codecs.ts';
import type { CodecChoice } from '../cursor/relate.ts';
import type { CodecItem, CodecSpec, CursorSpec } from './profile.ts';

/** Digits alone are ordered, every other id can only be told apart. */
const STANDARD: CodecSpec = ['int', 'opaque'];

/**
 * How ids are read, with what the profile declares for each grammar (R18).
 * @throws SyntaxError when a codec is unknown or a pattern is no regular expression.
 */
export function codecChoices(cursor: CursorSpec): CodecChoice[] {
  const { codec: spec = STANDARD, dense = false, means = 'last', separator } = cursor;
  const items = (Array.isArray(spec) ? spec : [spec]) as readonly (
    | CodecItem
    | CodecItem['codec']
  )[];
  return items.map((entry) => {
    const item: CodecItem =
      typeof entry === 'object' && 'codec' in entry ? entry : { codec: entry };
    return {
      codec:
        typeof item.codec === 'string'
          ? codecNamed(known(item.codec), item.separator ?? separator)
          : codecFromPattern(item.codec.pattern, known(item.codec.order)),
      dense: item.dense ?? dense,
      means: item.means ?? means,
    };
  });
}

function known<T extends string>(name: T): T {
  if ((CODEC_NAMES as readonly string[]).includes(name)) return name;
  throw new SyntaxError(`codec "${name}" is unknown: expected one of ${CODEC_NAMES.join(', ')}`);
}
