// Writes dashboards/*.json; they are committed, and a test fails when one has drifted.
import { writeFileSync } from 'node:fs';
import { renderDashboards } from './dashboards/all.ts';

for (const [name, text] of renderDashboards()) {
  writeFileSync(new URL(`../dashboards/${name}`, import.meta.url), text);
}
