/** CPU time and real time of one slice of work, in nanoseconds. */
export interface Slice {
  readonly cpu: number;
  readonly wall: number;
}

/** Runs one slice and says what it took for each unit of work. */
export type Variant<Result> = () => Result | Promise<Result>;

/** The part of its rounds that a benchmark runs where it is one of many, as in the gate. */
const SHARE = Number(process.env['BENCH_SHARE'] ?? 1);
const FEWEST_ROUNDS = 7;

export interface Pace {
  readonly rounds: number;
  readonly warmup: number;
}

/**
 * Runs a slice of every variant in each round, in another order each time, so that what disturbs
 * the machine hits all of them alike. Results keep the order of the rounds.
 */
export async function interleave<Name extends string, Result>(
  variants: Readonly<Record<Name, Variant<Result>>>,
  { rounds, warmup }: Pace,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(variants) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]]));
  const counted = Math.max(FEWEST_ROUNDS, Math.round(rounds * SHARE));
  const random = randomNumbers(7);
  for (let round = -warmup; round < counted; round++) {
    for (const name of shuffled(names, random)) {
      const result = await variants[name]();
      if (round >= 0) results[name]?.push(result);
    }
  }
  return results as Record<Name, Result[]>;
}

/**
 * CPU time of the whole process, the collector's threads included. Under other load it swings far
 * less than real time; its parts, user and system, cannot be trusted in short slices.
 */
export function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

/** Repeats `pass` for at least `milliseconds`. @returns nanoseconds for one pass. */
export function timed(pass: () => void, milliseconds: number): Slice {
  const started = performance.now();
  const cpu = cpuNow();
  let passes = 0;
  let elapsed = 0;
  do {
    pass();
    passes++;
    elapsed = performance.now() - started;
  } while (elapsed < milliseconds);
  return { cpu: (cpuNow() - cpu) / passes, wall: (elapsed * 1e6) / passes };
}

/** The same sequence in every run: streams and orders do not differ between two runs. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
