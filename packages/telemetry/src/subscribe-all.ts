import { subscribe, unsubscribe } from 'node:diagnostics_channel';

type Subscriber = (message: unknown) => void;

/** @returns Ends all of the subscriptions. */
export function subscribeAll(subscribers: Readonly<Record<string, Subscriber>>): () => void {
  for (const [name, subscriber] of Object.entries(subscribers)) subscribe(name, subscriber);
  return () => {
    for (const [name, subscriber] of Object.entries(subscribers)) unsubscribe(name, subscriber);
  };
}
