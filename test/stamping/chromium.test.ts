import type { ServerResponse } from 'node:http';
import { debianPackage } from '@sameriver/testkit';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LogServer } from './log-server.ts';
import { ALL, eventsAfter, stamp, startLogServer } from './log-server.ts';

const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let browser: Browser;
const servers: LogServer[] = [];

beforeAll(async () => {
  const executablePath = await debianPackage('chromium');
  browser = await chromium.launch({ executablePath, args: QUIET });
}, 400_000);
afterAll(() => browser?.close());
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

type Before = Parameters<typeof startLogServer>[0];

async function serve(before: Before): Promise<LogServer> {
  const server = await startLogServer(before, (_, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><title>page</title>');
  });
  servers.push(server);
  return server;
}

/** A page of the origin of `server`, without favicon and cache. */
async function pageOf(server: LogServer): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(new URL('/', server.url).href);
  return page;
}

/** Runs in the page: the native `EventSource`, up to five events. */
function listen(url: string): Promise<string[]> {
  return new Promise((resolve) => {
    const seen: string[] = [];
    const source = new EventSource(url);
    source.onmessage = ({ lastEventId, data }) => {
      seen.push(`${lastEventId}|${data}`);
      if (seen.length < 5) return;
      source.close();
      resolve(seen);
    };
  });
}

/** Runs in the page: the first answer by `fetch`, which ends by itself. */
async function read(url: string): Promise<{ field: string | null; body: string }> {
  const response = await fetch(url);
  return { field: response.headers.get('stream-continuity'), body: await response.text() };
}

const allow = (response: ServerResponse): void => {
  response.setHeader('access-control-allow-origin', '*');
};

describe('Chromium', () => {
  it.each([
    ['without', () => {}],
    ['with', stamp],
  ])(
    'hears the same events, and comes back with the same cursor, %s stamping',
    async (_, before) => {
      const server = await serve(before as Before);
      const page = await pageOf(server);
      expect(await page.evaluate(listen, server.url)).toEqual(ALL);
      expect(server.cursors.slice(0, 2)).toEqual([undefined, '3']);
      await page.close();
    },
  );

  it('reads the same bytes by fetch, but for the header and the comment', async () => {
    const server = await serve(stamp);
    const page = await pageOf(server);
    const { field, body } = await page.evaluate(read, server.url);
    expect(field).toBe('status=initialized, gen="log-1", next="1", newest="5"');
    expect(body).toBe(`: stream-continuity ${field}\n\n${eventsAfter(undefined)}`);
    await page.close();
  });

  it('may read the header of another origin that lets it in', async () => {
    const other = await serve((request, response) => {
      allow(response);
      stamp(request, response);
    });
    const page = await pageOf(await serve(() => {}));
    const { field } = await page.evaluate(read, other.url);
    expect(field).toBe('status=initialized, gen="log-1", next="1", newest="5"');
    await page.close();
  });
});
