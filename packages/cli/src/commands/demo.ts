import { parseArgs } from 'node:util';
import type { Command } from './command.ts';
import { usageErrorFrom } from './command.ts';

const HELP = `Usage: sameriver demo [--load] [--targets FILE]

Plays two incidents with real MCP servers and clients behind a load balancer, and a session that moves
to a WebSocket, then the first incident with a guard before the client: all on this machine and on free
ports. Shows what they believe and what Same River says. Takes about half a minute.

  --load          raise the load of a feed in steps instead, whose window shrinks when it is busy, and
                  plot how often a reconnect is re-originated by load; takes about a minute
  --targets FILE  write the addresses of /metrics there, for file_sd_configs of a Prometheus that
                  scrapes once a second, and give it the time to find them

With OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP, such as http://localhost:4318 of Jaeger) the spans
are sent there too.

Exit status: 0 all verdicts are the right ones, 1 one is not or never came, 130 interrupted.
`;

/** `sameriver demo`: the failure, seen from both ends. */
export const demo: Command = {
  name: 'demo',
  summary: 'play three incidents with real servers and clients',
  run: async (args, terminal) => {
    const { help, load, targets } = optionsOf(args);
    if (help) {
      terminal.out(HELP);
      return 0;
    }
    // What they play with is not loaded for anything else.
    if (load) {
      const { runLoad } = await import('../demo/load/run-load.ts');
      return await runLoad(terminal, targets);
    }
    const { runDemo } = await import('../demo/run-demo.ts');
    return await runDemo(terminal, targets);
  },
};

interface DemoOptions {
  readonly help?: boolean;
  readonly load?: boolean;
  readonly targets?: string;
}

/** @throws UsageError */
function optionsOf(args: readonly string[]): DemoOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        load: { type: 'boolean' },
        targets: { type: 'string' },
      },
    });
    return values;
  } catch (error) {
    throw usageErrorFrom(error);
  }
}
