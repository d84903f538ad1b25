// A client that holds many event streams open with fetch.
import { answer, memoryNow } from '../lib/child.ts';

interface Order {
  readonly port: number;
  /** Number of the first, for its path. */
  readonly from: number;
  readonly count: number;
  /** Whether each stream has a path of its own. */
  readonly ownPaths: boolean;
}

const AT_ONCE = 100;
const streams = new Set<{ bytes: number }>();

async function open({ port, from, count, ownPaths }: Order): Promise<void> {
  for (let opened = 0; opened < count; opened += AT_ONCE) {
    const length = Math.min(AT_ONCE, count - opened);
    const paths = Array.from({ length }, (_, i) =>
      ownPaths ? `/sse/${from + opened + i}` : '/sse',
    );
    await Promise.all(paths.map((path) => follow(`http://127.0.0.1:${port}${path}`)));
  }
}

async function follow(url: string): Promise<void> {
  const { body } = await fetch(url, { headers: { accept: 'text/event-stream' } });
  const stream = { bytes: 0 };
  streams.add(stream);
  void read(body as ReadableStream<Uint8Array>, stream).catch(() => undefined);
}

async function read(body: ReadableStream<Uint8Array>, stream: { bytes: number }): Promise<void> {
  for await (const chunk of body) stream.bytes += chunk.length;
}

const questions = { open, memory: () => ({ ...memoryNow(), open: streams.size }) };

export type ClientQuestions = typeof questions;

answer(0, questions);
