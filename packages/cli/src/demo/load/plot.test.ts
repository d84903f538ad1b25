import { expect, test } from 'vitest';
import { plot } from './plot.ts';

const terminal = { out: () => {}, err: () => {}, paint: (_: string, text: string) => text };

test('a bar is as long as its share of the axis, and says its counts', () => {
  const stretches = [
    { name: 'low', reconnects: 8, reoriginated: 0 },
    { name: 'elevated', reconnects: 200, reoriginated: 1 },
    { name: 'high', reconnects: 4, reoriginated: 4 },
  ];
  expect(plot(stretches, terminal).split('\n')).toEqual([
    '  low      ┤  0 %  0 of 8',
    '  elevated ┤▎  1 %  1 of 200',
    `  high     ┤${'█'.repeat(50)}  100 %  4 of 4`,
    `           └${'─'.repeat(50)}`,
    `            0 %${' '.repeat(41)}100 %`,
    '',
  ]);
});
