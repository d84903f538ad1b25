// Readers of a feed on the package eventsource, which comes back by itself after what the server calls
// `retry`. Nothing in it knows of Same River: node --import @sameriver/node/register feed-readers.js
import process from 'node:process';
import { EventSource } from 'eventsource';

const [url, readers] = process.argv.slice(2);

for (let i = 0; i < Number(readers); i++) {
  const source = new EventSource(url);
  source.onopen = () => process.send({ kind: 'opened' });
}

process.on('disconnect', () => process.exit());
