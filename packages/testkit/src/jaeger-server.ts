import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from './redis-server.ts';

/** A program that runs until it is closed. */
export interface RunningCollector {
  /** What it has written so far. */
  log(): string;
  close(): Promise<void>;
}

/**
 * Runs a configuration with the binary of Jaeger.
 *
 * @param config Path of the YAML.
 * @param env What its `${env:…}` stand for.
 * @throws Error with its log when it ends before it is ready.
 */
export async function startCollector(
  binary: string,
  config: string,
  env: Readonly<Record<string, string>>,
): Promise<RunningCollector> {
  const child = spawn(binary, ['--config', config], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  let log = '';
  const ready = new Promise<void>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('Everything is ready')) resolve();
    });
  });
  const failed = ended.then(() => {
    throw new Error(`${config} ended before it was ready:\n${log.slice(-4_000)}`);
  });
  failed.catch(() => {});
  await Promise.race([ready, failed]);
  return {
    log: () => log,
    close: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A Jaeger of the test's own on the loopback interface, everything in memory. */
export interface JaegerServer extends RunningCollector {
  /** Where spans are sent by OTLP over HTTP, without the path. */
  readonly otlp: string;
  /** Host and port for OTLP over gRPC. */
  readonly otlpGrpc: string;
  /** Base URL of pages and query API. */
  readonly query: string;
}

const RECIPES = fileURLToPath(new URL('../../../docs/recipes/', import.meta.url));

/** Starts Jaeger as `docs/recipes` configures it, on free ports. */
export async function jaegerServer(binary: string): Promise<JaegerServer> {
  const [query, queryGrpc, otlp, otlpGrpc] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const running = await startCollector(binary, `${RECIPES}jaeger/config.yaml`, {
    JAEGER_HOST: '127.0.0.1',
    JAEGER_QUERY_PORT: String(query),
    JAEGER_QUERY_GRPC_PORT: String(queryGrpc),
    JAEGER_OTLP_PORT: String(otlp),
    JAEGER_OTLP_GRPC_PORT: String(otlpGrpc),
    JAEGER_UI_CONFIG: `${RECIPES}jaeger/ui.json`,
  });
  return {
    ...running,
    otlp: `http://127.0.0.1:${otlp}`,
    otlpGrpc: `127.0.0.1:${otlpGrpc}`,
    query: `http://127.0.0.1:${query}`,
  };
}

/** The gateway of `docs/recipes`, with a Jaeger behind it. */
export interface Gateway extends RunningCollector {
  /** Where spans are sent by OTLP over HTTP, without the path. */
  readonly otlp: string;
  /** Host and port of its page of metrics. */
  readonly metrics: string;
}

/**
 * Starts it on free ports. It decides after five seconds and keeps nothing but what it must; metrics
 * are there after one.
 */
export async function startGateway(
  binary: string,
  { otlpGrpc }: Pick<JaegerServer, 'otlpGrpc'>,
): Promise<Gateway> {
  const [http, grpc, metrics] = await Promise.all([freePort(), freePort(), freePort()]);
  const running = await startCollector(binary, `${RECIPES}collector/gateway.yaml`, {
    COLLECTOR_HOST: '127.0.0.1',
    COLLECTOR_OTLP_PORT: String(http),
    COLLECTOR_OTLP_GRPC_PORT: String(grpc),
    COLLECTOR_METRICS_PORT: String(metrics),
    JAEGER_ENDPOINT: otlpGrpc,
    SAMPLING_DECISION_WAIT: '5s',
    SAMPLING_PERCENTAGE: '0',
    METRICS_FLUSH_INTERVAL: '1s',
  });
  return { ...running, otlp: `http://127.0.0.1:${http}`, metrics: `127.0.0.1:${metrics}` };
}
