import { resolve } from 'node:path';
import type { SessionsConfig } from '../config/index.js';
import { isProduction } from '../config/presets.js';

/** What the app says of itself once it listens: where everything is, and a first command to try. */
export function greeting(url: string, sessions: SessionsConfig): string {
  const address = url.replace(/\[::1?\]|0\.0\.0\.0/, 'localhost');
  const places = [
    ['listening on', address],
    ['REST', `${address}/apps/{app}/users/{user}/sessions`],
    ['docs', `${address}/docs`],
    ['GraphQL', `${address}/graphql`],
    ...(isProduction(process.env) ? [] : [['explorer', `${address}/explorer`]]),
    ['health', `${address}/health`],
    ['sessions in', placeOf(sessions)],
  ];
  const lines = places.map(([name = '', place]) => `  ${name.padEnd(12)}  ${place}`);
  return ['Agent Sessions for NestJS', ...lines, '', 'Try it:', '', `  ${firstCommand(address)}`, ''].join('\n');
}

/** Makes a session with an id of its own, so that it works as often as one likes. */
function firstCommand(address: string): string {
  const body = `{"state":{"step":1,"user:theme":"dark"}}`;
  return `curl -s ${address}/apps/shop/users/ann/sessions -H 'Content-Type: application/json' -d '${body}'`;
}

/** Where the sessions are, without anything secret. */
function placeOf(sessions: SessionsConfig): string {
  if (sessions.provider === 'memory') return 'memory: they are gone when this process ends';
  if (sessions.provider === 'redis') return 'Redis';
  const { database, url = '' } = sessions.database ?? {};
  return database === undefined ? `a database at ${new URL(url).host}` : `SQLite, ${resolve(database)}`;
}
