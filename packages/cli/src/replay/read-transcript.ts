import { readFile } from 'node:fs/promises';
import type { Transcript } from '@sameriver/core';
import { parseTranscript, ShapeError } from '@sameriver/core';

/** The message says where in the file, and what is wrong there. */
export class BadTranscript extends Error {
  override readonly name = 'BadTranscript';
}

/**
 * Reads one transcript.
 *
 * @throws BadTranscript for a file that cannot be read, is no JSON, or is no transcript.
 */
export async function readTranscript(file: string): Promise<Transcript> {
  const json = parseJson(await readText(file));
  try {
    return parseTranscript(json);
  } catch (cause) {
    if (!(cause instanceof ShapeError)) throw cause;
    throw new BadTranscript(cause.message, { cause });
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const { message } = cause as Error;
    throw new BadTranscript(`cannot be read: ${message}`, { cause });
  }
}

function parseJson(text: string): unknown {
  try {
    // Editors on Windows put a byte order mark first; it is no part of the JSON.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new BadTranscript(`is no JSON: ${message}`, { cause });
  }
}
