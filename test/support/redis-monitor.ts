import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { redisUrl } from './redis-store.js';

/** A line of MONITOR: its source, the name of the command, and the first argument. */
const CALL = /^\+[\d.]+ \[\d+ (\S+)\] "((?:[^"\\]|\\.)*)"(?: "((?:[^"\\]|\\.)*)")?/;

/**
 * The names of the commands that scripts call on keys of this prefix, while `work` runs.
 *
 * It reads the socket itself: ioredis fails if a line of MONITOR comes in one piece with the answer to it.
 */
export async function callsOfScripts(prefix: string, work: () => Promise<void>): Promise<string[]> {
  const { hostname, port, username, password } = new URL(redisUrl);
  const socket = connect(Number(port || 6379), hostname);
  const client = new Redis(redisUrl);
  const end = `end-${prefix}`;
  try {
    await once(socket, 'connect');
    const lines = createInterface(socket)[Symbol.asyncIterator]();
    const commands = [
      ...(password ? [['AUTH', username || 'default', password].map(decodeURIComponent)] : []),
      ['MONITOR'],
    ];
    for (const command of commands) {
      socket.write(toRequest(command));
      const { value: answer } = await lines.next();
      if (answer !== '+OK') throw new Error(`Redis does not watch its commands: ${String(answer)}`);
    }
    await work();
    await client.get(end);
    const calls: string[] = [];
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      const [, source, name = '', key = ''] = CALL.exec(line.value) ?? [];
      if (key === end) return calls;
      if (source === 'lua' && key.startsWith(prefix)) calls.push(name.toLowerCase());
    }
    throw new Error('Redis closed the connection that watches its commands');
  } finally {
    socket.destroy();
    client.disconnect();
  }
}

/** A command as Redis reads it. */
function toRequest(words: readonly string[]): string {
  return [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ''].join('\r\n');
}
