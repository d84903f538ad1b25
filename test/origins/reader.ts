import type { IncomingMessage } from 'node:http';
import { get } from 'node:http';

/** A reader of a feed that says where it was. */
export interface Reader {
  /** Resolves when this id has come. */
  until(id: string): Promise<void>;
  close(): void;
}

export async function read(port: number, cursor?: string): Promise<Reader> {
  const headers = cursor === undefined ? {} : { 'last-event-id': cursor };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: '/feed', headers, agent: false }, resolve).on(
      'error',
      reject,
    );
  });
  let text = '';
  const waiting = new Set<() => void>();
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (const look of waiting) look();
  });
  response.on('error', () => {});
  return {
    until: (id) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!text.includes(`id: ${id}\n`)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: () => response.destroy(),
  };
}
