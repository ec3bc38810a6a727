import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { LOGIN_LIMIT_MS } from './server-kind.js';

/** Runs `use` on its own connection. If the connection fails, the error gives the reason. */
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
    // `disconnect` on a closed connection would keep the process alive.
    if (client.status !== 'end') client.disconnect();
  }
}

/** Throws if the Redis is not writable or is part of a cluster. Returns the version. */
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
