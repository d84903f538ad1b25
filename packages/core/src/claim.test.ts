import { expect, test } from 'vitest';
import { claim } from './claim.ts';

test('the first to claim a stream holds it, and may ask again', () => {
  const request = {};
  expect(claim(request, 'sse', 0)).toBe(true);
  expect(claim(request, 'sse', 0)).toBe(true);
  expect(claim(request, 'other', 0)).toBe(false);
});

test('a more specific instrumentation takes the stream over, and the bare one learns of it', () => {
  const request = {};
  expect(claim(request, 'sse', 0)).toBe(true);
  expect(claim(request, 'mcp', 10)).toBe(true);
  expect(claim(request, 'sse', 0)).toBe(false);
  expect(claim(request, 'mcp', 10)).toBe(true);
});

test('claims on different streams know nothing of each other', () => {
  expect(claim({}, 'mcp', 10)).toBe(true);
  expect(claim({}, 'sse', 0)).toBe(true);
});
