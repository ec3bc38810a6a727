import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installedProgram } from './installed-program.js';
import { ownerOfPostgres } from './private-postgres.js';
import { PrivateServer } from './private-server.js';

/** Starts nginx with `docker/nginx.conf` in front of instances on these ports. */
export async function startNginx(ports: readonly number[]): Promise<PrivateServer> {
  const command = await installedProgram('nginx-light', 'The tests of proxies', 'nginx');
  const own = readFileSync(resolve('docker/nginx.conf'), 'utf8');
  return PrivateServer.start({
    owner: ownerOfPostgres(),
    addressAt: (port) => `http://127.0.0.1:${port}`,
    check: (address) => fetch(`${address}/health/live`),
    program: (folder, port) => {
      const file = join(folder, 'nginx.conf');
      const http = own
        .replace(/server sessions:3000(.*;)/, (_, rest) =>
          ports.map((at) => `server 127.0.0.1:${at}${rest}`).join('\n'),
        )
        .replace('listen 80;', `listen 127.0.0.1:${port};`);
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${kind};`);
      writeFileSync(
        file,
        ['daemon off;', `pid ${folder}/pid;`, 'events {}', 'http {', 'access_log off;', ...folders, http, '}'].join(
          '\n',
        ),
      );
      return { command, args: ['-p', folder, '-e', 'stderr', '-c', file], stopSignal: 'SIGTERM' };
    },
  });
}
