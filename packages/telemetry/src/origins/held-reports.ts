import type { StreamConnection } from '@sameriver/core';

interface Told {
  isReady: boolean;
  tell: () => void;
}

/** What is told of a connection, in order, while the verdict on it is held back. */
export class HeldReports {
  readonly #byConnection = new Map<StreamConnection, Told[]>();

  /** Tells now, or after what is held back of this connection. */
  tell(connection: StreamConnection, tell: () => void): void {
    const queue = this.#byConnection.get(connection);
    if (queue === undefined) tell();
    else queue.push({ isReady: true, tell });
  }

  /** @returns what is to be called, once, with what there is to tell in the end. */
  hold(connection: StreamConnection): (tell: () => void) => void {
    const queue = this.#byConnection.get(connection) ?? [];
    this.#byConnection.set(connection, queue);
    const held: Told = { isReady: false, tell: () => {} };
    queue.push(held);
    return (tell) => {
      held.tell = tell;
      held.isReady = true;
      this.#release(connection, queue);
    };
  }

  #release(connection: StreamConnection, queue: Told[]): void {
    while (queue[0]?.isReady === true) queue.shift()?.tell();
    if (queue.length === 0) this.#byConnection.delete(connection);
  }
}
