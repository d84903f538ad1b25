// Writes docs/configuration.md from the table of options; it is committed.
import { writeFileSync } from 'node:fs';
import { renderConfiguration } from './render-configuration.ts';

writeFileSync(new URL('../../../docs/configuration.md', import.meta.url), renderConfiguration());
