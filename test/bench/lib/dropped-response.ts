import { IncomingMessage, ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';

/** A socket that takes everything and sends nothing: what is left is JavaScript. */
class Drop extends Duplex {
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
  override _writev(_chunks: unknown, done: () => void): void {
    done();
  }
}

/**
 * A response on which the original methods stay in force whatever is patched later. Exchanging the
 * methods of one prototype between slices would make the optimiser start over each time.
 */
class BareResponse extends ServerResponse {}
for (const name of ['write', 'end', 'emit', 'writeHead'] as const) {
  const value = ServerResponse.prototype[name];
  Object.defineProperty(BareResponse.prototype, name, { value, writable: true });
}

const RESPONSES = 100;

/** @param kind `patched`: whatever methods are in force. `bare`: as Node made them. */
export function openResponses(kind: 'patched' | 'bare', contentType: string): ServerResponse[] {
  const Response = kind === 'bare' ? BareResponse : ServerResponse;
  return Array.from({ length: RESPONSES }, (_, n) => {
    const request = new IncomingMessage(new Drop() as never);
    // A path for each, as sessions have it: a log for each, which costs more than a shared one.
    const url = `/sse/${n}`;
    Object.assign(request, { method: 'GET', url, httpVersionMajor: 1, httpVersionMinor: 1 });
    const response = new Response(request);
    response.assignSocket(new Drop() as never);
    response.writeHead(200, { 'content-type': contentType });
    return response;
  });
}
