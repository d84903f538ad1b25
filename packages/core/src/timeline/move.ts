import type { Migration } from '../migration.ts';
import { migrationOutcome } from '../migration.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Verdict } from '../verdict.ts';
import type { LogicalStream, Move } from './logical-stream.ts';
import type { RequestFacts } from './request-facts.ts';

type Asked = Pick<RequestFacts, 'transport' | 'method' | 'path'>;

/**
 * M1: `POST /session/{id}/upgrade` asks for a move that another request carries out. Accepted, it
 * opens no stream and refuses none.
 */
export function announcesMove({ transport, method, path }: Asked): boolean {
  return transport === 'sse' && method === 'POST' && path.endsWith('/upgrade');
}

/** M1: the two kinds of request by which a stream leaves SSE. */
export function mayMove(request: Asked): boolean {
  return request.transport === 'websocket' || announcesMove(request);
}

/** Any success, and the 101 of a client that upgrades the very request. */
export function acceptsMove(status: number): boolean {
  return status < 300;
}

/** Without a place for the payload, the frame and the SSE data of one event need not be equal. */
export function isFramedAnew(move: Move | undefined, { payload }: CompiledProfile): boolean {
  return move !== undefined && payload === undefined;
}

export function migrationOf({ askedAt }: Move, verdict: Verdict): Migration {
  return { from: 'sse', to: 'websocket', outcome: migrationOutcome(verdict), askedAt };
}

/**
 * M1: which of these streams leaves SSE by this request. The application closes a connection in
 * order to move, so one that it closed counts as well; one that is still open only for a request
 * that says that it moves, by a cursor or by its name (L5).
 * @param window milliseconds since the stream closed, or since its move was announced.
 */
export function leavingSse(
  streams: readonly LogicalStream[],
  asked: {
    readonly request: Asked;
    readonly cursor: string | undefined;
    readonly at: number;
  },
  window: number,
): LogicalStream | undefined {
  const onSse = streams.filter(({ transport }) => transport === 'sse');
  const isRecent = (at: number | undefined): boolean => at !== undefined && asked.at - at <= window;
  const saysSo = asked.cursor !== undefined || announcesMove(asked.request);
  return (
    onSse.find(({ handover }) => isRecent(handover?.askedAt)) ??
    onSse.find(({ isOpen }) => saysSo && isOpen) ??
    onSse.find(({ isOpen, lastEnd }) => !isOpen && (saysSo || isRecent(lastEnd?.at)))
  );
}
