// Writes src/names.ts, src/metric-definitions.ts and docs/telemetry.md from the registry; all are committed.
import { readFileSync, writeFileSync } from 'node:fs';
import { readRegistry } from './registry.ts';
import { renderDocs } from './render-docs.ts';
import { renderMetrics, renderNames } from './render-names.ts';

const at = (path: string) => new URL(`../${path}`, import.meta.url);
const registry = readRegistry(readFileSync(at('registry/event_stream.yaml'), 'utf8'));
writeFileSync(at('src/names.ts'), renderNames(registry));
writeFileSync(at('src/metric-definitions.ts'), renderMetrics(registry));
writeFileSync(at('../../docs/telemetry.md'), renderDocs(registry));
