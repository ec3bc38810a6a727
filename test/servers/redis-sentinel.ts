import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrivateServer } from './private-server.js';
import { withRedis } from './redis-login.js';

export const MASTER_NAME = 'sessions-master';

/**
 * Starts a Sentinel that monitors a master under {@link MASTER_NAME}.
 *
 * @param downAfterMs how long the master may be silent until a replica takes over
 */
export async function startSentinel(command: string, master: URL, downAfterMs?: number): Promise<PrivateServer> {
  const sentinel = await PrivateServer.start({
    addressAt: (port) => `redis://127.0.0.1:${port}`,
    program: (folder, port) => {
      const file = join(folder, 'sentinel.conf');
      writeFileSync(file, `port ${port}\nbind 127.0.0.1\ndir ${folder}\n`);
      return { command, args: [file, '--sentinel'], stopSignal: 'SIGTERM' };
    },
    check: (address) => withRedis(address, (client) => client.ping()),
  });
  await withRedis(sentinel.address, (client) =>
    client.call('SENTINEL', 'MONITOR', MASTER_NAME, master.hostname, master.port, '1'),
  );
  if (downAfterMs !== undefined) {
    await withRedis(sentinel.address, (client) =>
      client.call('SENTINEL', 'SET', MASTER_NAME, 'down-after-milliseconds', downAfterMs),
    );
  }
  return sentinel;
}
