import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Bill } from '@sameriver/guard';
import { untilFound, writeTargets } from './targets.ts';
import { DemoStuck, within } from './within.ts';

/** A process of the demo: a program that knows nothing of Same River, started with one flag. */
export interface Player {
  readonly service: string;
  /** Where its Prometheus exporter is scraped. */
  readonly metrics: string;
  tell(order: Readonly<Record<string, unknown>>): void;
  /** The first message of this kind that fits, already here or still to come. */
  hear(kind: string, fits?: (message: Message) => boolean): Promise<Message>;
  /** All messages of this kind so far. */
  heard(kind: string): readonly Message[];
}

interface Message {
  readonly kind: string;
  readonly port?: number;
  readonly text?: string;
  readonly message?: string;
  readonly lost?: number;
  readonly status?: number;
  readonly ids?: readonly number[];
  readonly bill?: Bill;
}

export type Program =
  | 'mcp-server'
  | 'mcp-client'
  | 'guarded-client'
  | 'feed-server'
  | 'feed-readers'
  | 'session-server'
  | 'session-client';

/** Starts processes, and ends every one of them. */
export interface Cast {
  start(service: string, program: Program, args: readonly string[]): Promise<Player>;
  end(): Promise<void>;
}

const REGISTER = import.meta.resolve('@sameriver/node/register');

/**
 * @param endpoint Where they export their spans to.
 * @param targetsFile Where to write which ports Prometheus may scrape.
 */
export function createCast(endpoint: string, targetsFile?: string): Cast {
  const children = new Set<ChildProcess>();
  const players: Player[] = [];
  return {
    start: async (service, program, args) => {
      const port = await freePort();
      const child = fork(
        fileURLToPath(new URL(`../../demo/${program}.js`, import.meta.url)),
        args,
        {
          execArgv: ['--import', REGISTER],
          env: {
            ...withoutTelemetry(process.env),
            ...exporters(service, endpoint, port),
            ...configurationOf(program),
          },
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        },
      );
      children.add(child);
      child.once('exit', () => children.delete(child));
      const player = playedBy(child, service, port);
      players.push(player);
      if (targetsFile !== undefined) {
        writeTargets(targetsFile, players);
        await untilFound();
      }
      return player;
    },
    end: async () => {
      await Promise.all([...children].map(endOf));
    },
  };
}

function exporters(service: string, endpoint: string, port: number): NodeJS.ProcessEnv {
  return {
    OTEL_SERVICE_NAME: service,
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
    OTEL_LOGS_EXPORTER: 'none',
    // On a busy machine every process waits its turn; what the demo shows is the work of its own.
    SAMERIVER_LOAD_ELEVATED_DELAY: '60000',
    SAMERIVER_LOAD_HIGH_DELAY: '60000',
  };
}

/** A protocol of somebody's own needs a profile that says where its numbers stand. */
function configurationOf(program: Program): NodeJS.ProcessEnv {
  if (!program.startsWith('session-')) return {};
  return {
    SAMERIVER_CONFIG_FILE: fileURLToPath(new URL('../../demo/session.json', import.meta.url)),
  };
}

/** The settings of whoever starts the demo are not meant for its processes. */
function withoutTelemetry(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(?:OTEL|SAMERIVER)_/.test(name)),
  );
}

/** The exporter takes no port 0, so one is asked for here and given back. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

function playedBy(child: ChildProcess, service: string, port: number): Player {
  const messages: Message[] = [];
  const waiting = new Set<(message: Message) => void>();
  child.on('message', (message: Message) => {
    messages.push(message);
    for (const offer of waiting) offer(message);
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new DemoStuck(`${service} ended with ${code}`);
  });
  ended.catch(() => {});
  const come = (kind: string, fits: (message: Message) => boolean): Promise<Message> =>
    new Promise((resolve) => {
      const offer = (message: Message): void => {
        if (message.kind !== kind || !fits(message)) return;
        waiting.delete(offer);
        resolve(message);
      };
      waiting.add(offer);
      for (const message of messages) offer(message);
    });
  return {
    service,
    metrics: `http://127.0.0.1:${port}/metrics`,
    tell: (order) => void child.send(order),
    hear: (kind, fits = () => true) =>
      within(Promise.race([come(kind, fits), ended]), `"${kind}" of ${service}`),
    heard: (kind) => messages.filter((message) => message.kind === kind),
  };
}

async function endOf(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  // What is busy or stuck has no claim on the terminal of whoever started the demo.
  const force = setTimeout(() => child.kill('SIGKILL'), 2_000);
  await gone;
  clearTimeout(force);
}
