const VERSION = '2025-11-25';

/** One answer of a server, read as text while it comes. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Resolves with everything so far, once it contains `part`. */
  until(part: string): Promise<string>;
  close(): Promise<void>;
}

/** Opens the session of a server. @returns Its id. */
export async function initialize(url: string, protocolVersion: string = VERSION): Promise<string> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  const answer = await post(url, { id: 1, method: 'initialize', params });
  await answer.until('"protocolVersion"');
  await answer.close();
  const session = answer.headers.get('mcp-session-id') ?? '';
  const initialized = await post(url, { method: 'notifications/initialized' }, session);
  await initialized.close();
  return session;
}

export function post(url: string, message: object, session?: string): Promise<RawAnswer> {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  const headers = { ...headersOf(session), 'content-type': 'application/json' };
  return ask(url, { method: 'POST', headers, body });
}

/** The standalone stream of a session, or what follows a cursor. */
export function listen(url: string, session: string, cursor?: string): Promise<RawAnswer> {
  const resume = cursor === undefined ? {} : { 'last-event-id': cursor };
  return ask(url, { headers: { ...headersOf(session), accept: 'text/event-stream', ...resume } });
}

function headersOf(session: string | undefined): Record<string, string> {
  return {
    accept: 'application/json, text/event-stream',
    ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': VERSION }),
  };
}

async function ask(url: string, init: RequestInit): Promise<RawAnswer> {
  const abort = new AbortController();
  const { status, headers, body } = await fetch(url, { ...init, signal: abort.signal });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    status,
    headers,
    async until(part) {
      while (!text.includes(part)) {
        const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
        if (done) throw new Error(`the answer ended before "${part}" came: ${text}`);
        text += value;
      }
      return text;
    },
    async close() {
      abort.abort();
      // To wait for the abort to come through would wait for ever where something is unread.
      await reader?.cancel().catch(() => {});
    },
  };
}

/** Id of the last event in a piece of a stream. */
export function lastId(text: string): string {
  const id = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1];
  if (id === undefined) throw new Error(`no id in: ${text}`);
  return id;
}
