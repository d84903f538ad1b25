import { readdirSync, readFileSync } from 'node:fs';
import type { JudgedReconnect } from '@sameriver/core';
import { judgeTranscript, parseTranscript } from '@sameriver/core';
import { describe, expect, it } from 'vitest';

const folder = new URL('../cases/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

describe('recorded incidents', () => {
  it.each(files)('%s is judged as expected', (file) => {
    const transcript = parseTranscript(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
    const judged = judgeTranscript(transcript);
    const keep = ({ connection, stream, ...rest }: JudgedReconnect): unknown => ({
      at: stream === undefined ? connection : `${connection} ${stream}`,
      classification: rest.classification,
      reason: rest.reason,
      missed: rest.missed,
      duplicates: rest.duplicates,
    });
    const expected = (transcript.expect ?? []) as unknown as JudgedReconnect[];
    const byPlace = (a: { at: unknown }, b: { at: unknown }): number =>
      String(a.at).localeCompare(String(b.at));
    const sorted = (all: readonly JudgedReconnect[]): unknown[] =>
      (all.map(keep) as { at: unknown }[]).sort(byPlace);
    expect(sorted(judged)).toEqual(sorted(expected));
  });
});
