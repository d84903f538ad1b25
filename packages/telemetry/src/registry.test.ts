import { readFileSync } from 'node:fs';
import type { Classification, Reason, Role } from '@sameriver/core';
import { describe, expect, test } from 'vitest';
import { readRegistry } from '../scripts/registry.ts';
import { renderDocs } from '../scripts/render-docs.ts';
import { renderMetrics, renderNames } from '../scripts/render-names.ts';
import { METRICS } from './metric-definitions.ts';
import type {
  Classification as NamedClassification,
  Reason as NamedReason,
  Role as NamedRole,
} from './names.ts';
import * as names from './names.ts';
import { CLASSIFICATION_VALUES, REASON_VALUES, ROLE_VALUES } from './names.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const registry = readRegistry(read('registry/event_stream.yaml'));

describe('what is generated from the registry', () => {
  test.each([
    ['src/names.ts', renderNames],
    ['src/metric-definitions.ts', renderMetrics],
    ['../../docs/telemetry.md', renderDocs],
  ])('%s is what the generator writes: run `pnpm run generate` when it is not', (path, render) => {
    expect(read(path)).toBe(render(registry));
  });

  test('what nothing emits yet is documented and has no constant', () => {
    const planned = readRegistry(`groups:
      - { id: all, type: attribute_group, brief: b, attributes: [{ id: event_stream.planned, type: int, brief: b }] }
      - id: metric.planned
        type: metric
        metric_name: event_stream.plans
        brief: Not yet.
        instrument: counter
        unit: "{plan}"
        annotations: { reserved: true }
        attributes: [{ ref: event_stream.planned, requirement_level: required }]`);
    expect(renderDocs(planned)).toContain('event_stream.plans');
    expect(renderMetrics(planned)).not.toContain('event_stream.plans');
    expect(renderNames(planned)).not.toContain('event_stream.planned');
  });

  test('a reference to an attribute that nobody defines is an error that names both', () => {
    const text =
      'groups: [{ id: metric.a, type: metric, brief: b, attributes: [{ ref: event_stream.typo, requirement_level: required }] }]';
    expect(() => readRegistry(text)).toThrow(/metric\.a refers to event_stream\.typo/);
  });
});

// Each type must be assignable to the other; either error stops the type check.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
const sameUnions: {
  classification: Same<Classification, NamedClassification>;
  reason: Same<Reason, NamedReason>;
  role: Same<Role, NamedRole>;
} = { classification: true, reason: true, role: true };

describe('closed unions', () => {
  test('classification, reason and role have the members that core has', () => {
    const reasons: Record<Reason, true> = {
      stream_gone: true,
      cursor_conflict: true,
      nothing_to_resume: true,
      http_4xx: true,
      http_5xx: true,
      http_other: true,
      refusal_frame: true,
      epoch_changed: true,
      reset_signalled: true,
      origin_frame: true,
      echo_mismatch: true,
      window_exceeded: true,
      tail_below_cursor: true,
      cursor_not_advanced: true,
      id_reused: true,
      protocol_never_resumes: true,
      cursor_unknown: true,
      server_declared: true,
      cursor_echoed: true,
      epoch_and_window: true,
      next_in_sequence: true,
      overlap: true,
      store_replayed: true,
      replay_observed: true,
      no_profile: true,
      cursor_not_sent: true,
      no_events: true,
      no_ids: true,
      not_comparable: true,
      no_epoch: true,
      no_window: true,
      cursor_unknown_here: true,
      cursor_issued_elsewhere: true,
    };
    const classifications: Record<Classification, true> = {
      resumed: true,
      reoriginated: true,
      unverifiable: true,
      refused: true,
    };
    const roles: Record<Role, true> = { client: true, server: true };
    expect([...REASON_VALUES].sort()).toEqual(Object.keys(reasons).sort());
    expect([...CLASSIFICATION_VALUES].sort()).toEqual(Object.keys(classifications).sort());
    expect([...ROLE_VALUES].sort()).toEqual(Object.keys(roles).sort());
    expect(Object.values(sameUnions)).toEqual([true, true, true]);
  });

  test('every enumeration of the registry that is in use has its list', () => {
    const lists = Object.values(names).filter((value) => typeof value !== 'string');
    const enums = registry.attributes
      .map(({ type }) => (typeof type === 'string' ? [] : type.members.map(({ value }) => value)))
      .filter((members) => members.length > 0);
    // The reasons of errors are a list of their own.
    expect(lists).toHaveLength(enums.length + 1);
    for (const list of lists.slice(0, -1)) expect(enums).toContainEqual(list);
  });

  test('every reason says which classification it belongs to', () => {
    const reason = registry.attributes.find(({ id }) => id === 'event_stream.reason');
    const members = typeof reason?.type === 'object' ? reason.type.members : [];
    expect(members).not.toHaveLength(0);
    for (const { brief } of members) {
      expect(brief).toMatch(/^(refused|reoriginated|resumed|unverifiable): /);
    }
  });
});

describe('metric definitions', () => {
  test('counters and up-down counters have annotation units, so their name is one on every path', () => {
    const summed = METRICS.filter(({ instrument }) => instrument.endsWith('counter'));
    expect(summed).not.toHaveLength(0);
    for (const { unit } of summed) expect(unit).toMatch(/^\{[a-z]+\}$/);
  });

  test('histograms have rising bucket boundaries, and nothing else has any', () => {
    for (const { instrument, boundaries } of METRICS) {
      expect(boundaries.length > 0).toBe(instrument === 'histogram');
      expect([...boundaries].sort((a, b) => a - b)).toEqual(boundaries);
    }
  });

  test('no label can hold a cursor, an epoch, a session or a path', () => {
    const labels = new Set(METRICS.flatMap(({ attributes }) => attributes));
    expect([...labels].sort()).toEqual([
      'event_stream.classification',
      'event_stream.disconnect.reason',
      'event_stream.gap.source',
      'event_stream.load.level',
      'event_stream.migration.from',
      'event_stream.migration.outcome',
      'event_stream.migration.to',
      'event_stream.protocol.name',
      'event_stream.reason',
      'event_stream.role',
    ]);
  });
});
