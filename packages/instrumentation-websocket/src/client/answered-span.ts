import { SpanStatusCode, trace } from '@opentelemetry/api';
import type { FollowedSocket } from '../followed-socket.ts';
import type { Sockets } from '../sockets.ts';

/**
 * Sets what the server answered on the connect span, while that still runs: where no HTTP
 * instrumentation is, no other span tells it.
 */
export function tellStatus(sockets: Sockets, socket: FollowedSocket, status: number): void {
  const attempt = sockets.contextOf(socket);
  const span = attempt && trace.getSpan(attempt);
  if (span === undefined) return;
  span.setAttribute('http.response.status_code', status);
  if (status === 101) return;
  span.setAttribute('error.type', String(status));
  span.setStatus({ code: SpanStatusCode.ERROR });
}
