// Loaded before the app: answers each message of its parent with what is left in memory after a collection.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

process.on('message', () => {
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send?.({ heapUsed, external, rss });
});
// The channel must not keep the app alive.
process.channel?.unref();
