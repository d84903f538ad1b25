import type { Client, ClientName } from './client.ts';
import { createEventSourceClient } from './eventsource-client.ts';
import { createFetchClient } from './fetch-client.ts';
import { createHttpClient } from './http-client.ts';
import { createUndiciClient } from './undici-client.ts';

const CLIENTS: Readonly<Record<ClientName, () => Client | Promise<Client>>> = {
  fetch: createFetchClient,
  http: createHttpClient,
  undici: createUndiciClient,
  eventsource: createEventSourceClient,
};

/** A fresh client: no cursor and no connection is left over from another transcript. */
export async function createClient(name: ClientName): Promise<Client> {
  return CLIENTS[name]();
}
