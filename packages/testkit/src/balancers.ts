import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { debianPackage } from './debian-package.ts';
import { freePort } from './redis-server.ts';

/** A real load balancer on the loopback interface that knows no sessions. */
export interface RealBalancer {
  readonly origin: string;
  close(): Promise<void>;
}

/** Begins one that hands requests to these ports in turn, past those that do not answer. */
export type StartBalancer = (ports: readonly number[]) => Promise<RealBalancer>;

type Configure = (port: number, ports: readonly number[], dir: string) => string;

const haproxy: Configure = (port, ports) => `
defaults
  mode http
  timeout connect 1s
  timeout client 60s
  timeout server 60s
  retries 3
  option redispatch 1
  retry-on conn-failure
listen mcp
  bind 127.0.0.1:${port}
  balance roundrobin
${ports.map((at, i) => `  server s${i} 127.0.0.1:${at}`).join('\n')}
`;

const nginx: Configure = (port, ports, dir) => `
daemon off;
worker_processes 1;
pid ${dir}/nginx.pid;
error_log ${dir}/error.log;
events { }
http {
  access_log off;
  client_body_temp_path ${dir}/body;
  proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi;
  scgi_temp_path ${dir}/scgi;
  upstream mcp {
${ports.map((at) => `    server 127.0.0.1:${at} max_fails=0;`).join('\n')}
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://mcp;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_next_upstream error timeout non_idempotent;
    }
  }
}
`;

/**
 * By name, from Debian's packages.
 *
 * @throws Error when one is not installed and cannot be, or does not start.
 */
export const BALANCERS: Readonly<Record<'HAProxy' | 'nginx', StartBalancer>> = {
  HAProxy: (ports) => start('haproxy', haproxy, (file) => ['-f', file], ports),
  nginx: (ports) => start('nginx', nginx, (file, dir) => ['-c', file, '-p', dir], ports),
};

async function start(
  name: string,
  configure: Configure,
  args: (file: string, dir: string) => string[],
  ports: readonly number[],
): Promise<RealBalancer> {
  const program = await debianPackage(name);
  const dir = await mkdtemp(join(tmpdir(), `sameriver-${name}-`));
  const port = await freePort();
  const file = join(dir, `${name}.conf`);
  await writeFile(file, configure(port, ports, dir));
  const child = spawn(program, args(file, dir), { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const ended = once(child, 'close');
  const close = async (): Promise<void> => {
    // Its master would leave its workers behind if it were killed.
    child.kill('SIGTERM');
    await ended;
    await rm(dir, { recursive: true });
  };
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`${name} ended before it was ready: ${complaint}`);
    await delay(20);
  }
  return { origin: `http://127.0.0.1:${port}`, close };
}

function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).then((yes) => {
    socket.destroy();
    return yes === true;
  });
}
