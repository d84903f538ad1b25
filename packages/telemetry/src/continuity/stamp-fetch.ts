import { writeContinuity } from '@sameriver/core';
import type { ContinuityEvidence } from './evidence.ts';
import { readerOf } from './evidence.ts';
import { CONTINUITY_HEADER, exposedHeaders, isEventStream, takesFrame } from './expose.ts';
import { frameOf } from './frame.ts';
import type { ContinuityOptions } from './stamp-response.ts';
import { PLAIN_PROTOCOL } from './stamp-response.ts';

/**
 * `continuity` for handlers that take a web `Request` and return a `Response`:
 *
 * ```js
 * export const GET = (request) =>
 *   continuityResponse(request, { epoch: log.epoch }, () => new Response(log.stream()));
 * ```
 *
 * @param respond Makes the answer, in the asynchronous context in which a log is listened to.
 * @returns The same answer with the header and a first frame, or the answer itself where it is no
 *   event stream with status 200 or has the header already.
 */
export async function continuityResponse(
  request: Request,
  evidence: ContinuityEvidence,
  respond: () => Response | Promise<Response>,
  options: ContinuityOptions = {},
): Promise<Response> {
  const sent = options.cursor ?? request.headers.get('last-event-id');
  const read = readerOf(evidence, sent || undefined, options.protocol ?? PLAIN_PROTOCOL);
  const response = await respond();
  const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
  if (response.status !== 200 || !isEventStream(header('content-type'))) return response;
  if (header(CONTINUITY_HEADER) !== undefined) return response;
  const said = read();
  const field = writeContinuity(said);
  if (field === undefined) return response;
  const headers = new Headers(response.headers);
  headers.set(CONTINUITY_HEADER, field);
  const exposed = exposedHeaders(header);
  if (exposed !== undefined) headers.set('Access-Control-Expose-Headers', exposed);
  const frame = takesFrame(header) ? frameOf(said, field, options) : '';
  const { body, status, statusText } = response;
  return new Response(frame === '' ? body : before(body, frame), { status, statusText, headers });
}

function before(
  body: ReadableStream<Uint8Array> | null,
  frame: string,
): ReadableStream<Uint8Array> | null {
  return (
    body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode(frame)),
      }),
    ) ?? null
  );
}
