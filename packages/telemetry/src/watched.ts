/**
 * Things that are patched as long as anybody watches, once for all who do: the taps of two
 * instrumentations could not be taken away in any order but the reverse of their start.
 */
export class Watched<Target extends object, Watcher> {
  readonly #patch: (target: Target, watchers: ReadonlySet<Watcher>) => () => void;
  readonly #watchers = new Set<Watcher>();
  readonly #undo = new Map<Target, (() => void) | undefined>();

  /** @param patch Returns what undoes it; asks `watchers` whenever something happens. */
  constructor(patch: (target: Target, watchers: ReadonlySet<Watcher>) => () => void) {
    this.#patch = patch;
  }

  /** Remembers a target for all who watch now and later. */
  add(target: Target): void {
    if (this.#undo.has(target)) return;
    this.#undo.set(target, undefined);
    if (this.#watchers.size > 0) this.#apply(target);
  }

  /** @returns Ends the watching; the targets are as they were when it was the last. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    for (const [target, undo] of this.#undo) if (undo === undefined) this.#apply(target);
    return () => {
      if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
      for (const [target, undo] of this.#undo) {
        undo?.();
        this.#undo.set(target, undefined);
      }
    };
  }

  #apply(target: Target): void {
    this.#undo.set(target, this.#patch(target, this.#watchers));
  }
}
