// A client that holds many event streams open with fetch.
import { answer, memoryNow } from '../lib/child.ts';

interface Order {
  readonly port: number;
  readonly count: number;
  /** Whether each stream has a path of its own. */
  readonly ownPaths: boolean;
}

const AT_ONCE = 100;
const streams = new Set<{ readonly abort: () => void; bytes: number }>();

async function open({ port, count, ownPaths }: Order): Promise<void> {
  for (let opened = 0; opened < count; opened += AT_ONCE) {
    const length = Math.min(AT_ONCE, count - opened);
    const paths = Array.from({ length }, (_, i) => (ownPaths ? `/sse/${opened + i}` : '/sse'));
    await Promise.all(paths.map((path) => follow(`http://127.0.0.1:${port}${path}`)));
  }
}

async function follow(url: string): Promise<void> {
  const control = new AbortController();
  const headers = { accept: 'text/event-stream' };
  const { body } = await fetch(url, { headers, signal: control.signal });
  const stream = { abort: () => control.abort(), bytes: 0 };
  streams.add(stream);
  void read(body as ReadableStream<Uint8Array>, stream).catch(() => undefined);
}

async function read(body: ReadableStream<Uint8Array>, stream: { bytes: number }): Promise<void> {
  for await (const chunk of body) stream.bytes += chunk.length;
}

async function close(): Promise<void> {
  for (const stream of streams) stream.abort();
  streams.clear();
  await new Promise((resolve) => setTimeout(resolve, 300));
}

const questions = { open, close, memory: () => ({ ...memoryNow(), open: streams.size }) };

export type ClientQuestions = typeof questions;

answer(0, questions);
