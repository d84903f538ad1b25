import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { diag } from '@opentelemetry/api';
import type { Continuity } from '@sameriver/core';
import { readerForAnswer, stampFor } from './answer-stamp.ts';
import type { ContinuityEvidence } from './evidence.ts';
import { CONTINUITY_HEADER } from './expose.ts';
import type { FrameOptions } from './frame.ts';
import { beginsWithMark } from './frame.ts';
import { Head } from './head.ts';
import { Shadows } from './shadows.ts';
import type { ContinuityOptions } from './stamp-response.ts';

const NOTHING_SET = { getHeader: () => undefined };
const CONTINUITY: string = CONTINUITY_HEADER.toLowerCase();
const EXPOSE = 'access-control-expose-headers';

interface Stamped {
  /** Arguments for `respond`. */
  readonly args: unknown[];
  /** What comes before the body. */
  readonly frame: string;
}

/** `continuity` for a stream of HTTP/2 that is answered by `respond`, as the compatibility API does. */
export function stampStream(
  stream: ServerHttp2Stream,
  asked: IncomingHttpHeaders,
  evidence: ContinuityEvidence,
  { protocol, ...options }: FrameOptions & Pick<ContinuityOptions, 'protocol'>,
): void {
  const read = readerForAnswer(evidence, asked['last-event-id']?.toString(), protocol);
  const shadows = new Shadows(stream);
  shadows.put('respond', (original) => {
    return function respond(this: unknown, ...args: unknown[]): unknown {
      shadows.remove();
      const stamped = guarded(() => stampedArguments(args, asked, read, options));
      const result = original.apply(this, stamped?.args ?? args);
      if (stamped && stamped.frame !== '') writeBefore(stream, stamped.frame);
      return result;
    };
  });
}

function guarded<R>(act: () => R): R | undefined {
  try {
    return act();
  } catch (error) {
    diag.error('continuity: the head is left as it is', error);
    return undefined;
  }
}

function stampedArguments(
  args: unknown[],
  asked: IncomingHttpHeaders,
  read: () => Continuity,
  options: FrameOptions,
): Stamped | undefined {
  const [headers = {}, settings] = args as [unknown, { endStream?: boolean }?];
  const head = new Head(NOTHING_SET, [200, headers]);
  const header = (name: string): string | undefined => head.get(name);
  const status = Number(header(':status') ?? 200);
  const hasBody = settings?.endStream !== true && asked[':method'] !== 'HEAD';
  const stamp = stampFor({ status, header, hasBody }, read, options);
  if (stamp === undefined) return undefined;
  const { field, exposed, frame } = stamp;
  const replaced = exposed === undefined ? undefined : head.with(EXPOSE, exposed)?.[1];
  const isAdded = exposed !== undefined && replaced === undefined;
  const fields = { [CONTINUITY]: field, ...(isAdded && { [EXPOSE]: exposed }) };
  return { args: [withFields(replaced ?? headers, fields), settings], frame };
}

function withFields(headers: unknown, fields: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(headers)) return [...headers, ...Object.entries(fields).flat()];
  return { ...(headers as object), ...fields };
}

/** The frame goes out with what comes first, so that an answer without a body stays one. */
function writeBefore(stream: ServerHttp2Stream, frame: string): void {
  const shadows = new Shadows(stream);
  for (const name of ['write', 'end']) {
    shadows.put(name, (original) => {
      return function written(this: unknown, ...args: unknown[]): unknown {
        shadows.remove();
        const { destroyed, writableEnded } = stream;
        if (!destroyed && !writableEnded && !beginsWithMark(args[0])) stream.write(frame);
        return original.apply(this, args);
      };
    });
  }
}
