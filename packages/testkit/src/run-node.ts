import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

export interface NodeRun {
  /** `null` when a signal ended the process. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface NodeRunOptions {
  readonly cwd: string;
  /** Comes on top of an environment without anything of `OTEL_`, `SAMERIVER_` and `NODE_`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the binary that runs the tests. */
  readonly binary?: string;
  /** Sent when the process has written its first line. */
  readonly signal?: NodeJS.Signals;
}

/** Runs one program in a process of its own until it ends. */
export async function runNode(
  args: readonly string[],
  { cwd, env = {}, binary = process.execPath, signal }: NodeRunOptions,
): Promise<NodeRun> {
  const child = spawn(binary, args, {
    cwd,
    env: { ...neutral(process.env), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (signal !== undefined) child.stdout.once('data', () => child.kill(signal));
  const [stdout, stderr, end] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise<Pick<NodeRun, 'code' | 'signal'>>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, endSignal) => resolve({ code, signal: endSignal }));
    }),
  ]);
  return { ...end, stdout, stderr };
}

function neutral(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^(?:OTEL|SAMERIVER|NODE)_/.test(name));
  return Object.fromEntries(kept);
}

async function textOf(stream: Readable): Promise<string> {
  stream.setEncoding('utf8');
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text;
}
