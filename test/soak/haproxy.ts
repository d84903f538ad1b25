import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianPackage } from '@sameriver/testkit';

export interface Haproxy {
  close(): Promise<void>;
}

/** A real balancer before these ports; it sends each connection to the next instance that lives. */
export async function startHaproxy(port: number, backends: readonly number[]): Promise<Haproxy> {
  const program = await debianPackage('haproxy');
  const file = join(mkdtempSync(join(tmpdir(), 'sameriver-haproxy-')), 'haproxy.cfg');
  writeFileSync(file, configOf(port, backends));
  const child = spawn(program, ['-db', '-f', file], { stdio: 'ignore' });
  await untilOpen(port, child);
  return {
    close: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

function configOf(port: number, backends: readonly number[]): string {
  const servers = backends.map(
    (backend, n) => `  server s${n} 127.0.0.1:${backend} check inter 100 fall 1 rise 1`,
  );
  return `global
  maxconn 2000
defaults
  mode http
  timeout connect 500
  timeout client 60s
  timeout server 60s
  option redispatch
  retries 3
frontend in
  bind 127.0.0.1:${port}
  default_backend out
backend out
  balance roundrobin
  option httpchk GET /health
${servers.join('\n')}
`;
}

/** Resolves when somebody listens on a port; @throws Error when `child` ends before. */
export async function untilOpen(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`The process for port ${port} ended with ${child.exitCode ?? child.signalCode}.`);
}
