import { isLoopback } from '../config/app.config.js';
import type { SessionsConfig } from '../config/index.js';
import { storePlaceOf } from '../config/store-place.js';
import { endpoints } from './endpoints.js';

/** The startup message: entry points, and a first command to try. */
export function startupMessage(url: string, host: string, sessions: SessionsConfig): string {
  const address = url.replace(/\[::1?\]|0\.0\.0\.0/, 'localhost');
  const facts = [
    ['listening on', address],
    ...(isLoopback(host) ? [] : [['open to', openTo(host)]]),
    ...endpoints(process.env).map(({ name, path }) => [name, address + path]),
    ['sessions in', storePlaceOf(sessions)],
  ];
  const lines = facts.map(([name = '', place]) => `  ${name.padEnd(12)}  ${place}`);
  return ['Agent Sessions for NestJS', ...lines, '', 'Try it:', '', `  ${firstCommand(address)}`, ''].join('\n');
}

/** Creates a session with a generated id, so that it can be repeated. */
function firstCommand(address: string): string {
  const body = `{"state":{"step":1,"user:theme":"dark"}}`;
  return `curl -s ${address}/apps/shop/users/ann/sessions -H 'Content-Type: application/json' -d '${body}'`;
}

/** Who can reach the app. */
function openTo(host: string): string {
  const where = host === '0.0.0.0' || host === '::' ? 'every address of this machine' : host;
  return `everyone who can reach ${where} (HOST, SESSIONS_ACCESS=open)`;
}
