import { PrivateServer } from './private-server.js';
import { checkRedis } from './redis-login.js';

export interface PrivateRedisOptions {
  /** Flushes each write to disk before it is acknowledged. */
  readonly durable?: boolean;
  /** More arguments of redis-server. */
  readonly args?: readonly string[];
  readonly check?: (address: string) => Promise<unknown>;
  /** Accepts only TLS connections; `args` must name the certificate files. */
  readonly isEncrypted?: boolean;
}

/** Starts a private Redis with this `redis-server`. */
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
