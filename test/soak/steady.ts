import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What a process holds at one moment, with nothing open. */
export interface Sample {
  readonly connections: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
  /** Sockets, timers and other things that keep a loop alive. */
  readonly handles: number;
}

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Collects all garbage, also what finalizers of the first round set free. */
export function collect(): void {
  for (let times = 0; times < 3; times += 1) gc();
}

export function sample(connections: number): Sample {
  collect();
  const { heapUsed, rss } = process.memoryUsage();
  const handles = process.getActiveResourcesInfo().length;
  return { connections, heapBytes: heapUsed, rssBytes: rss, handles };
}

/** Bytes of heap that one more connection may leave behind, on average: less than a property. */
const MOST_BYTES = 8;
/** Idle sockets of two pools come and go. */
const MOST_HANDLES = 40;

/**
 * The second half of a run against its middle: caches and pools are full by then.
 *
 * @returns A sentence for each thing that grows.
 */
export function flatness(samples: readonly Sample[]): string[] {
  const half = samples.slice(Math.floor(samples.length / 2));
  const [first, last] = [half[0], half.at(-1)];
  if (first === undefined || last === undefined || first === last) return ['nothing was measured'];
  const bytes = (last.heapBytes - first.heapBytes) / (last.connections - first.connections);
  const handles = last.handles - first.handles;
  return [
    ...(bytes > MOST_BYTES ? [`the heap grows by ${bytes.toFixed(1)} B a connection`] : []),
    ...(handles > MOST_HANDLES ? [`${handles} more handles than in the middle`] : []),
  ];
}

export function printSamples(samples: readonly Sample[]): void {
  console.log('connections | heap MiB | RSS MiB | handles');
  for (const { connections, heapBytes, rssBytes, handles } of samples) {
    const mebibytes = [heapBytes, rssBytes].map((bytes) => (bytes / 2 ** 20).toFixed(2));
    console.log([connections, ...mebibytes, handles].join(' | '));
  }
}
