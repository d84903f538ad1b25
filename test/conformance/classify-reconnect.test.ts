import { readFileSync } from 'node:fs';
import { classifyReconnect } from '@sameriver/core';
import { describe, expect, it } from 'vitest';

type Row = [number, string, number, string, boolean, string];
const table = JSON.parse(
  readFileSync(new URL('../reference/classify-reconnect.json', import.meta.url), 'utf8'),
) as { rows: Row[] };

describe('classifyReconnect', () => {
  it(`equals the reference table in each of its ${table.rows.length} rows`, () => {
    expect(table.rows.length).toBeGreaterThan(200);
    for (const row of table.rows) {
      const [requestedLastEventId, requestedGeneration, firstEventId, firstEventGeneration] = row;
      const classification = classifyReconnect({
        requestedLastEventId,
        requestedGeneration,
        firstEventId,
        firstEventGeneration,
        serverDeclaresReplayWindow: row[4],
      });
      expect([...row.slice(0, 5), classification]).toEqual(row);
    }
  });
});
