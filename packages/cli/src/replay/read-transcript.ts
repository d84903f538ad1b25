import { readFile } from 'node:fs/promises';
import type { Transcript } from '@sameriver/core';
import { parseTranscript, ShapeError } from '@sameriver/core';

/** The message says which file, where in it, and what is wrong there. */
export class BadTranscript extends Error {
  override readonly name = 'BadTranscript';
}

/**
 * Reads one transcript.
 *
 * @throws BadTranscript for a file that cannot be read, is no JSON, or is no transcript.
 */
export async function readTranscript(file: string): Promise<Transcript> {
  const json = parseJson(file, await readText(file));
  try {
    return parseTranscript(json);
  } catch (cause) {
    if (!(cause instanceof ShapeError)) throw cause;
    throw new BadTranscript(`${file}: ${cause.message}`, { cause });
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const { message } = cause as Error;
    throw new BadTranscript(`${file}: cannot be read: ${message}`, { cause });
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new BadTranscript(`${file}: is no JSON: ${message}`, { cause });
  }
}
