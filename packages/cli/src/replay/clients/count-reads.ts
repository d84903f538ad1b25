import type { CountUp } from '../count-up.ts';

/**
 * Counts what a library reads from a response. A chunk counts when the library asks for the next
 * one: by then it has parsed it, so a reset cannot take it away.
 */
export function countReads(response: Response, received: CountUp): Response {
  const { body } = response;
  if (body === null) return response;
  const getReader = body.getReader.bind(body);
  const value = () => countingReader(getReader(), received);
  Object.defineProperty(body, 'getReader', { value });
  return response;
}

function countingReader(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  received: CountUp,
): ReadableStreamDefaultReader<Uint8Array> {
  const read = reader.read.bind(reader);
  let handedOut = 0;
  reader.read = async () => {
    received.add(handedOut);
    handedOut = 0;
    const result = await read();
    handedOut = result.value?.byteLength ?? 0;
    return result;
  };
  return reader;
}
