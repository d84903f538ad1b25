import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderCompatibility } from './seen.ts';

writeFileSync(
  fileURLToPath(new URL('../../docs/compatibility.md', import.meta.url)),
  renderCompatibility(),
);
