import { readdirSync, readFileSync } from 'node:fs';
import type { JudgedReconnect } from '@sameriver/core';
import { judgeTranscript, parseTranscript } from '@sameriver/core';
import { describe, expect, it } from 'vitest';

const folder = new URL('../cases/rules/', import.meta.url);
const rules = readdirSync(folder).map((file) => {
  const json: unknown = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
  const transcript = parseTranscript(json);
  return { file, transcript, rule: transcript.source?.replace(/^rule:/, '') ?? '' };
});

type Row = Partial<JudgedReconnect>;

/** One text for each verdict, so that a difference reads in one line. */
function lines(verdicts: readonly Row[]): string[] {
  return verdicts
    .map(({ connection, stream, classification, reason, missed, duplicates }) => {
      const place = stream === undefined ? `${connection}` : `${connection} ${stream}`;
      return `${place}: ${classification}/${reason}, missed ${missed}, duplicates ${duplicates}`;
    })
    .sort();
}

describe('the rules, each on a wire of its own', () => {
  it.each(rules.map((row) => [row.rule, row.transcript.name, row] as const))(
    '%s: %s',
    (_rule, _name, { transcript }) => {
      const expected = (transcript.expect ?? []) as readonly Row[];
      expect(lines(judgeTranscript(transcript))).toEqual(lines(expected));
    },
  );

  it.each(rules)('$file is named after its incident, its rule and its kind', (row) => {
    expect(row.file).toBe(`${row.transcript.name}.json`);
    expect(row.transcript.source).toMatch(/^(?:rule:[\w:.-]+|[\w.-]+\/[\w.-]+#\d+)$/);
    expect(row.transcript.kind).toMatch(/^[a-z0-9-]+$/);
    for (const { why } of row.transcript.expect ?? []) expect(why).toMatch(/\.$/);
  });
});

describe('a history that was too short', () => {
  const connection = (cursor: string | undefined): object => ({
    transport: 'sse',
    request: { path: '/feed', headers: cursor === undefined ? {} : { 'last-event-id': cursor } },
    response: { status: 200, headers: { 'content-type': 'text/event-stream' } },
    frames: Array.from({ length: 20_000 }, (_, n) => ({ id: `${n}`, data: `event ${n}` })),
    ends: 'eof',
  });

  it('G4: counts what it remembers, never more than was repeated', () => {
    const connections = [connection(undefined), connection('19999')];
    const [judged] = judgeTranscript(parseTranscript({ name: 'long', connections }));
    expect(judged).toMatchObject({ reason: 'cursor_not_advanced', missed: 'unknown' });
    expect(judged?.duplicates).toBeLessThanOrEqual(20_000);
  });
});
