import { PrivateServer } from './private-server.js';
import { checkRedis } from './redis-login.js';

export interface PrivateRedisOptions {
  /** Acknowledges nothing before it is on the disk. */
  readonly durable?: boolean;
  /** Further arguments of redis-server. */
  readonly args?: readonly string[];
  readonly check?: (address: string) => Promise<unknown>;
}

/** Starts a Redis of its own from a `redis-server`. */
export function startRedis(
  command: string,
  { durable = false, args = [], check = checkRedis }: PrivateRedisOptions = {},
): Promise<PrivateServer> {
  const persistence = durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
  return PrivateServer.start({
    addressAt: (port) => `redis://127.0.0.1:${port}`,
    check,
    program: (folder, port) => ({
      command,
      args: ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...persistence, ...args],
      stopSignal: 'SIGTERM',
    }),
  });
}
