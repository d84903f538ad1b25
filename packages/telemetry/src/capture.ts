import { hash } from 'node:crypto';
import type { Capture } from './types.ts';

/** A cursor may be a whole JSON document; nobody reads more than this of one in a trace viewer. */
const LONGEST = 128;
const HASH_DIGITS = 16;

/** @returns What may leave the process of `value`, or `undefined` for nothing. */
export function captured(value: string | undefined, how: Capture): string | undefined {
  if (value === undefined || how === 'off') return undefined;
  if (how === 'hash') return hash('sha256', value, 'hex').slice(0, HASH_DIGITS);
  return value.length > LONGEST ? value.slice(0, LONGEST) : value;
}

/** An epoch that stems from a session id is a credential in disguise: hashed unless asked for raw. */
export function epochCapture(configured: Capture | undefined, isSession: boolean): Capture {
  return configured ?? (isSession ? 'hash' : 'raw');
}
