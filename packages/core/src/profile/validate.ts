import { CODEC_NAMES } from '../cursor/codecs.ts';
import type { Json } from '../shape.ts';
import { array, integer, object, oneOf, optionalText, ShapeError, text, texts } from '../shape.ts';
import { compileProfile } from './compile.ts';
import type { Profile } from './profile.ts';
import { MESSAGE_FORMATS } from './profile.ts';

type Check = (value: unknown, pointer: string) => unknown;

const MEANS = ['last', 'next', 'inclusive'] as const;
const flag: Check = (value, pointer) => {
  if (typeof value === 'boolean') return value;
  throw new ShapeError(pointer, 'expected true or false');
};
const conditions: Check = (value, pointer) =>
  array(value, pointer).map((item, index) => object(item, `${pointer}/${index}`));
const textOrTexts: Check = (value, pointer) =>
  typeof value === 'string' ? value : texts(value, pointer);

function fields(checks: Readonly<Record<string, Check>>): Check {
  return (value, pointer) => {
    const members: Json = object(value, pointer);
    for (const [name, member] of Object.entries(members)) {
      // Every object has a `valueOf`, which is no check.
      const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
      if (check === undefined) {
        const known = Object.keys(checks).join(', ');
        throw new ShapeError(`${pointer}/${name}`, `unknown key: expected one of ${known}`);
      }
      if (member !== undefined) check(member, `${pointer}/${name}`);
    }
    return members;
  };
}

const codecName: Check = (value, pointer) => oneOf(value, pointer, CODEC_NAMES);
const codecOrPattern: Check = (value, pointer) =>
  typeof value === 'string'
    ? codecName(value, pointer)
    : fields({ pattern: text, order: codecName })(value, pointer);
const codecItem: Check = (value, pointer) =>
  typeof value === 'object' && value !== null && 'codec' in value
    ? fields({
        codec: codecOrPattern,
        dense: flag,
        separator: text,
        means: (means, at) => oneOf(means, at, MEANS),
      })(value, pointer)
    : codecOrPattern(value, pointer);
const codec: Check = (value, pointer) =>
  Array.isArray(value)
    ? value.map((item, index) => codecItem(item, `${pointer}/${index}`))
    : codecOrPattern(value, pointer);

const profileFields: Check = fields({
  name: text,
  match: fields({
    transport: (value, pointer) => oneOf(value, pointer, ['sse', 'websocket']),
    path: text,
    signs: conditions,
    signsNeeded: (value, pointer) => integer(value, pointer, 1, 8),
  }),
  messages: (value, pointer) => oneOf(value, pointer, MESSAGE_FORMATS),
  key: text,
  stream: textOrTexts,
  events: texts,
  members: fields({ of: text, as: text, name: text }),
  reply: fields({ sent: text, received: text }),
  cursor: fields({
    sent: texts,
    received: texts,
    codec,
    dense: flag,
    means: (value, pointer) => oneOf(value, pointer, MEANS),
    start: texts,
    separator: text,
    needsEpoch: flag,
    count: fields({ of: conditions, set: text, when: object }),
  }),
  epoch: fields({ sent: texts, received: texts, when: object, session: flag }),
  echo: texts,
  window: fields({ size: texts, oldest: texts }),
  tail: texts,
  resumed: conditions,
  reset: conditions,
  origin: conditions,
  refused: conditions,
  control: conditions,
  payload: text,
  identity: texts,
  neverResumes: flag,
});

/**
 * Checks a profile that comes from outside (a file, an option, a transcript).
 * @param pointer where it stands in its document.
 * @throws ShapeError naming the place and the reason.
 */
export function validateProfile(value: unknown, pointer = ''): Profile {
  profileFields(value, pointer);
  const profile = value as Profile;
  if (optionalText(profile.name, `${pointer}/name`) === undefined) {
    throw new ShapeError(`${pointer}/name`, 'a profile needs a name');
  }
  try {
    compileProfile(profile);
  } catch (error) {
    throw new ShapeError(pointer, (error as Error).message);
  }
  return profile;
}
