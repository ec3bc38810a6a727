import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { LOGIN_LIMIT_MS } from './server-kind.js';

/** Runs something on a connection of its own; the error tells why if there was none. */
export async function withRedis<Result>(address: string, use: (client: Redis) => Promise<Result>): Promise<Result> {
  const client = new Redis(address, {
    lazyConnect: true,
    connectTimeout: LOGIN_LIMIT_MS,
    commandTimeout: LOGIN_LIMIT_MS,
    retryStrategy: () => null,
  });
  let problem: Error | undefined;
  client.on('error', (error: Error) => (problem = error));
  try {
    await client.connect();
    return await use(client);
  } catch (error) {
    throw problem ?? error;
  } finally {
    // On a connection that is closed already, this would keep the process waiting for its end.
    if (client.status !== 'end') client.disconnect();
  }
}

/** Makes sure that one can write to the Redis, and that it stands alone. Tells its version. */
export async function checkRedis(address: string): Promise<string> {
  return withRedis(address, async (client) => {
    const info = await client.info();
    if (fieldOf(info, 'redis_mode') === 'cluster') throw new Error('it is part of a cluster');
    await client.set(`agent-sessions-probe:${randomUUID()}`, '', 'PX', 1);
    return versionOf(info);
  });
}

export function versionOf(info: string): string {
  return fieldOf(info, 'redis_version') ?? 'of an unknown version';
}

function fieldOf(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
}
