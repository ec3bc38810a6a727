import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrivateServer } from './private-server.js';
import { withRedis } from './redis-login.js';

export const MASTER_NAME = 'sessions-master';

/** Starts a Sentinel that monitors a master under {@link MASTER_NAME}. */
export async function startSentinel(command: string, master: URL): Promise<PrivateServer> {
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
  return sentinel;
}
