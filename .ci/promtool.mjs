import { report } from './go-program.mjs';

// Debian has Prometheus 2.42; the rules are to hold on 3.x as well. Without service discovery it
// takes half the time to build.
report({
  name: 'promtool',
  module: 'github.com/prometheus/prometheus/cmd/promtool',
  version: 'v0.316.0',
  flags: ['-tags=remove_all_sd'],
});
