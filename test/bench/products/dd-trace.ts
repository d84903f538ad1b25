import { createRequire, syncBuiltinESMExports } from 'node:module';
import tracer from 'dd-trace';

tracer.init({ startupLogs: false });
// It patches a module when that is required, and a benchmark imports.
const require = createRequire(import.meta.url);
for (const name of ['http', 'ws']) require(name);
syncBuiltinESMExports();
