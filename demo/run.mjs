// A tour of the app, in some seconds: `npm run demo`. It needs no server, and leaves nothing behind.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionsClient } from 'nestjs-agent-sessions/client';
import { startApp } from './app.mjs';
import { EXPIRY_SETTINGS, showExpiry } from './scenes/expiry.mjs';
import { showFiltering } from './scenes/filtering.mjs';
import { showRestart } from './scenes/restart.mjs';
import { showScopes } from './scenes/scopes.mjs';
import { SUMMARY_SETTINGS, showSummary } from './scenes/summary.mjs';
import { showTail } from './scenes/tail.mjs';
import { showWriters } from './scenes/writers.mjs';
import { plain } from './screen.mjs';

const folder = await mkdtemp(join(tmpdir(), 'agent-sessions-demo-'));
const apps = [];

async function start(settings) {
  const app = await startApp(folder, settings);
  apps.push(app);
  return app;
}

async function cleanUp(signal) {
  await Promise.all(apps.map((app) => app.end(signal)));
  await rm(folder, { recursive: true, force: true });
}

process.once('SIGINT', () => void cleanUp('SIGKILL').finally(() => process.exit(130)));

try {
  const app = await start(SUMMARY_SETTINGS);
  const client = new SessionsClient({ url: app.url });
  plain(`Agent Sessions for NestJS: the app runs on ${app.url}, with a SQLite file in ${folder}`);

  await showScopes(client);
  await showWriters(client);
  await showTail(client, app.url);
  await showFiltering(client);
  await showSummary(client);
  // A start takes the most of the time, so this one is for both.
  const next = await showRestart(app, () => start(EXPIRY_SETTINGS));
  await showExpiry(next.url);
  plain('\nThat was all. `npm start` leaves the app running for you to try; docs/ has the rest.');
} finally {
  await cleanUp('SIGTERM');
}
