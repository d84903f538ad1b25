/** A request to change an HTTP connection into a WebSocket. */
export function isHandshake(upgrade: unknown): boolean {
  return typeof upgrade === 'string' && upgrade.toLowerCase() === 'websocket';
}
