import type { WebSocketInstrumentationConfig } from './types.ts';

/** What is hooked in this process and what cannot be seen, for the debug log. */
export function visibility({
  client = true,
  server = true,
}: WebSocketInstrumentationConfig): string[] {
  const { node, ['undici']: undici = 'none' } = process.versions;
  return [
    `Node ${node}, undici ${undici}`,
    client
      ? 'client: every copy of ws 7 and 8 by its prototypes, the global WebSocket and undici 6 to 8 ' +
        'by channels undici:request:* and undici:websocket:open and by dispatchEvent; not seen: ' +
        'other libraries, WebSocketStream, what a Blob contains'
      : 'client: switched off',
    server
      ? 'server: every copy of ws 7 and 8 by its prototypes, refused handshakes of any library by ' +
        'the upgrade event of node:http; not seen: other libraries once the handshake is done'
      : 'server: switched off',
  ];
}
