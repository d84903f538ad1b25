import { codecNamed } from '../cursor/codecs.ts';

const RANDOM = [
  codecNamed('stream-ts-rand'),
  codecNamed('uuid'),
  codecNamed('ulid'),
  codecNamed('ksuid'),
];
const WITH_EPOCH = codecNamed('epoch-seq');

/**
 * Whether no second log can have issued this id by counting alike: it is random in part, or names
 * the epoch that it was issued under.
 */
export function isUnmistakable(id: string, epoch: string | undefined): boolean {
  // A counter with leading zeros has the length of a ULID or a KSUID as well.
  if (/^\d+$/.test(id)) return false;
  if (RANDOM.some((codec) => codec.parse(id) !== undefined)) return true;
  return epoch !== undefined && WITH_EPOCH.parse(id)?.epoch === epoch;
}
