import type { Place, PlacePart, Subject } from './place.ts';
import { parsePlace, SERVER_SOURCES, valuesOf } from './place.ts';
import type { Condition, ConditionValue, Literal } from './profile.ts';

type Test = (values: readonly unknown[], subject: Subject) => boolean;

interface Clause {
  readonly part: PlacePart;
  readonly test: Test;
}

/** A condition ready to be asked. */
export interface CompiledCondition {
  readonly clauses: readonly Clause[];
  /** Places it reads, its `equals` partners included. */
  readonly parts: readonly PlacePart[];
  /** One of its places can only be filled by the server. */
  readonly fromServer: boolean;
}

/** @throws SyntaxError naming the place or the value that cannot be read. */
export function compileCondition(condition: Condition): CompiledCondition {
  const clauses: Clause[] = [];
  const parts: PlacePart[] = [];
  for (const [subject, value] of Object.entries(condition)) {
    const part = onePart(subject, parsePlace(subject));
    const { test, partner } = compileTest(value);
    clauses.push({ part, test });
    parts.push(part, ...(partner ? [partner] : []));
  }
  return {
    clauses,
    parts,
    fromServer: clauses.some(({ part }) => SERVER_SOURCES.has(part.source)),
  };
}

export function holds({ clauses }: CompiledCondition, subject: Subject): boolean {
  return clauses.every(({ part, test }) => test(valuesOf(part, subject), subject));
}

export function anyHolds(conditions: readonly CompiledCondition[], subject: Subject): boolean {
  for (const condition of conditions) if (holds(condition, subject)) return true;
  return false;
}

/** @throws SyntaxError when the place joins several. */
export function onePart(text: string, place: Place): PlacePart {
  const [part] = place;
  if (part === undefined || place.length > 1) {
    throw new SyntaxError(`"${text}" joins places: expected a single one here`);
  }
  return part;
}

function compileTest(value: ConditionValue): { test: Test; partner?: PlacePart } {
  if (typeof value !== 'object' || value === null) return { test: someEqual([value]) };
  if (Array.isArray(value)) return { test: someEqual(value as readonly Literal[]) };
  if ('absent' in value) return { test: (values) => values.length === 0 };
  if ('present' in value) return { test: (values) => values.length > 0 };
  if ('bit' in value) return { test: flags((n) => (n & value.bit) === value.bit) };
  if ('bitClear' in value) return { test: flags((n) => (n & value.bitClear) === 0) };
  if ('equals' in value) {
    const partner = onePart(value.equals, parsePlace(value.equals));
    const test: Test = (values, subject) =>
      someEqual(valuesOf(partner, subject) as readonly Literal[])(values, subject);
    return { test, partner };
  }
  throw new SyntaxError(
    `${JSON.stringify(value)} is no test: expected a literal, a list, absent, present, equals, bit or bitClear`,
  );
}

const flags =
  (check: (value: number) => boolean): Test =>
  (values) =>
    values.some((value) => typeof value === 'number' && check(value));

/** Headers and query values are text, so a number in a profile also equals its digits. */
function someEqual(literals: readonly Literal[]): Test {
  return (values) =>
    values.some((value) =>
      literals.some(
        (literal) => value === literal || (typeof value === 'string' && value === String(literal)),
      ),
    );
}
