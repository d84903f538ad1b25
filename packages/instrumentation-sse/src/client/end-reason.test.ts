import { expect, test } from 'vitest';
import { endOf, errorTypeOf } from './end-reason.ts';

const coded = (code: string): Error => Object.assign(new Error(code), { code });

test.each([
  [coded('ECONNRESET'), 'reset', 'ECONNRESET'],
  [coded('UND_ERR_SOCKET'), 'reset', 'UND_ERR_SOCKET'],
  [coded('HPE_INVALID_CHUNK_SIZE'), 'reset', 'HPE_INVALID_CHUNK_SIZE'],
  [Object.assign(new Error('bad'), { name: 'HTTPParserError' }), 'reset', 'HPE_UNKNOWN'],
  [coded('ERR_HTTP2_STREAM_ERROR'), 'reset', 'ERR_HTTP2_STREAM_ERROR'],
  [new TypeError('terminated', { cause: coded('UND_ERR_SOCKET') }), 'reset', 'UND_ERR_SOCKET'],
  [coded('UND_ERR_BODY_TIMEOUT'), 'idle_timeout', 'UND_ERR_BODY_TIMEOUT'],
  [coded('UND_ERR_ABORTED'), 'aborted', 'UND_ERR_ABORTED'],
  [coded('ABORT_ERR'), 'aborted', 'ABORT_ERR'],
  [coded('UND_ERR_DESTROYED'), 'aborted', 'UND_ERR_DESTROYED'],
  [new DOMException('This operation was aborted', 'AbortError'), 'aborted', 'aborted'],
  [new DOMException('timed out', 'TimeoutError'), 'aborted', 'aborted'],
  [new Error('a reason of the application'), 'aborted', 'aborted'],
  [coded('user 4711 left'), 'aborted', 'aborted'],
  ['a string given to abort()', 'aborted', 'aborted'],
  [undefined, 'aborted', 'aborted'],
])('%s ends a connection by %s, and is an error of type %s', (error, end, type) => {
  expect(endOf(error)).toBe(end);
  expect(errorTypeOf(error)).toBe(type);
});

test('an error that is its own cause is no endless loop', () => {
  const error: Error & { cause?: unknown } = new Error('again');
  error.cause = error;
  expect(endOf(error)).toBe('aborted');
});
