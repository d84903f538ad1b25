import { OPTIONS } from '../src/config/options.ts';
import { SWITCHES } from '../src/config/switches.ts';

const INTRO = `# Configuration

<!-- Generated from packages/node/src/config by \`pnpm run generate\`. Do not edit. -->

Nothing needs to be set. What is set in more than one place is taken from the first of these:

1. the object given to \`getInstrumentations(config)\`;
2. \`SAMERIVER_*\` environment variables (one set to nothing counts as not set);
3. \`sameriver.json\`, whose members are named as in the table;
4. the default.

A value that cannot be used is named in one line on stderr together with what was expected, and the
next place in this list decides. Names that are no option are named too. Nothing of this ever stops
the application.
`;

const FILE = `\`\`\`json
{
  "capture": { "cursor": "hash" },
  "load": { "high": { "eventLoopUtilization": 0.8 } },
  "profiles": [
    {
      "name": "orders",
      "match": { "path": "^/orders/feed" },
      "cursor": { "received": ["json:/seq"], "codec": "int", "dense": true }
    }
  ]
}
\`\`\`

What a profile says is described in [spec/profiles.md](spec/profiles.md). Some options are functions,
and so are for the object alone: \`streamKey\`, \`ignoreRequest\`, \`reportHook\`, and \`originIndex\`, the index that
several instances share ([origins](origins.md)).

Instrumentations that are made by hand want the same options, all of them: those that would judge alike follow
a stream together when it moves from server-sent events to a WebSocket, others each on their own.
`;

const STANDARD = `## Standard variables

The SDK that \`@sameriver/node/register\` starts is configured by OpenTelemetry's own variables:
\`OTEL_SERVICE_NAME\`, \`OTEL_RESOURCE_ATTRIBUTES\`, \`OTEL_TRACES_EXPORTER\` (\`otlp\`, \`console\`, \`none\`),
\`OTEL_METRICS_EXPORTER\` (also \`prometheus\`), \`OTEL_LOGS_EXPORTER\`, \`OTEL_EXPORTER_OTLP_*\`,
\`OTEL_EXPORTER_PROMETHEUS_HOST\` and \`_PORT\`, \`OTEL_PROPAGATORS\`, \`OTEL_TRACES_SAMPLER\`,
\`OTEL_CONFIG_FILE\` and the rest. In particular:

- \`OTEL_SDK_DISABLED=true\`: the process is left alone, as with \`SAMERIVER_DISABLED=on\`;
- \`OTEL_NODE_DISABLED_INSTRUMENTATIONS\`: \`sse\` and \`websocket\` are ours, \`http\` and \`undici\` are
  what the SDK of \`register\` has besides;
- \`OTEL_LOG_LEVEL=debug\`: what was hooked and what cannot be seen is said once, as hooks are set.
`;

/** `docs/configuration.md`. */
export function renderConfiguration(): string {
  const options = OPTIONS.map(({ path, env, check, standard, text }) => [
    code(path),
    env === undefined ? '–' : code(env),
    text,
    check.expected,
    standard,
  ]);
  const switches = SWITCHES.map(({ env, check, standard, text }) => [
    code(env),
    text,
    check.expected,
    standard,
  ]);
  return [
    INTRO,
    '## Options\n',
    table(['member', 'variable', 'what it sets', 'value', 'default'], options),
    FILE,
    '## At the start and the end of a process\n',
    table(['variable', 'what it sets', 'value', 'default'], switches),
    STANDARD,
  ].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  const rule = widths.map((width) => '-'.repeat(width));
  return [head, rule, ...rows].map(line).join('');
}
