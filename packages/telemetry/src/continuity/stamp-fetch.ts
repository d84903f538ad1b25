import { readerForAnswer, stampFor } from './answer-stamp.ts';
import type { ContinuityEvidence } from './evidence.ts';
import { CONTINUITY_HEADER } from './expose.ts';
import type { ContinuityOptions } from './stamp-response.ts';

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
  const read = readerForAnswer(evidence, sent, options.protocol);
  const response = await respond();
  const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
  const { body, status, statusText } = response;
  const stamp = stampFor({ status, header, hasBody: true }, read, options);
  if (stamp === undefined) return response;
  const { field, exposed, frame } = stamp;
  const headers = new Headers(response.headers);
  headers.set(CONTINUITY_HEADER, field);
  if (exposed !== undefined) headers.set('Access-Control-Expose-Headers', exposed);
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
