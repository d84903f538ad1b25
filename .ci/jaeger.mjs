import { report } from './go-program.mjs';

report({
  name: 'jaeger',
  module: 'github.com/jaegertracing/jaeger/cmd/jaeger',
  version: 'v1.76.0',
});
