import { PrivateServer } from './private-server.js';
import { checkRedis } from './redis-login.js';

export interface PrivateRedisOptions {
  /** Acknowledges nothing before it is on the disk. */
  readonly durable?: boolean;
  /** Further arguments of redis-server. */
  readonly args?: readonly string[];
  readonly check?: (address: string) => Promise<unknown>;
  /** Takes connections with TLS only; the arguments name the files for that. */
  readonly isEncrypted?: boolean;
}

/** Starts a Redis of its own from a `redis-server`. */
export function startRedis(
  command: string,
  { durable = false, args = [], check = checkRedis, isEncrypted = false }: PrivateRedisOptions = {},
): Promise<PrivateServer> {
  const persistence = durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
  return PrivateServer.start({
    addressAt: (port) => `${isEncrypted ? 'rediss' : 'redis'}://127.0.0.1:${port}`,
    check,
    program: (folder, port) => ({
      command,
      args: [
        ...(isEncrypted ? ['--port', '0', '--tls-port', `${port}`] : ['--port', `${port}`]),
        '--bind',
        '127.0.0.1',
        '--dir',
        folder,
        '--save',
        '',
        ...persistence,
        ...args,
      ],
      stopSignal: 'SIGTERM',
    }),
  });
}
