import type { Command } from './command.ts';
import { UsageError } from './command.ts';

const HELP = `Usage: sameriver demo

Plays two incidents with real MCP servers and clients behind a load balancer, all on this machine and
on free ports, and shows what they believe and what Same River says. Takes about half a minute.

With OTEL_EXPORTER_OTLP_ENDPOINT (OTLP over HTTP, such as http://localhost:4318 of Jaeger) the spans
are sent there too.

Exit status: 0 all verdicts are the right ones, 1 one is not or never came, 130 interrupted.
`;

/** `sameriver demo`: the failure, seen from both ends. */
export const demo: Command = {
  name: 'demo',
  summary: 'play two incidents with real MCP servers and clients',
  run: async (args, terminal) => {
    const [first] = args;
    if (first === '--help' || first === '-h') {
      terminal.out(HELP);
      return 0;
    }
    if (first !== undefined) throw new UsageError(`unknown argument ${JSON.stringify(first)}`);
    // The SDKs that it plays with are not loaded for anything else.
    const { runDemo } = await import('../demo/run-demo.ts');
    return await runDemo(terminal);
  },
};
