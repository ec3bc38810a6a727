// The app of `npm start` with everything on, encryption, quotas, audit and API keys too, under users who come and go: does its memory stay
// flat, and is each session whole?
//
//   node bench/soak.mjs --minutes=30                                        a SQLite file
//   SESSIONS_DATABASE_URL=postgres://… node bench/soak.mjs --minutes=30     another store, by the variables of the app
import { fork, spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SessionsClient } from '../dist/client/index.js';

const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url));
const minutes = Number(process.argv.find((argument) => argument.startsWith('--minutes='))?.split('=')[1] ?? 30);
const USERS = 8;
const SAMPLES = 60;
/** What of the time is for compiling and filling what is kept. */
const WARM_UP = 0.25;
/** What the memory may grow by from the first third after that to the last one. */
const MOST_GROWTH_MB = 8;
const MB = 2 ** 20;

const users = Array.from({ length: USERS }, (_, index) => ({ userId: `user-${index}`, ...apiKeyOf(`user-${index}`) }));
const { NODE_ENV: _own, ...environment } = process.env;
const folder = await mkdtemp(join(tmpdir(), 'sessions-soak-'));
const counts = { sessions: 0, events: 0, pieces: 0, found: 0, wrong: 0 };
const problems = [];
const app = fork(fileOf('../dist/main.js'), {
  cwd: folder,
  execArgv: ['--import', fileOf('support/tell-memory.mjs')],
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  env: {
    ...environment,
    PORT: '0',
    NO_COLOR: '1',
    DEMO_AGENT: 'true',
    SEARCH: 'true',
    METRICS: 'true',
    REQUEST_LOG: 'false',
    THROTTLE_LIMIT: '0',
    SESSIONS_TTL_ENABLED: 'true',
    SESSIONS_ENCRYPTION_KEYS: `soak:${randomBytes(32).toString('base64')}`,
    SESSIONS_QUOTAS_USER: 'sessions=1000, appendsPerMinute=1000000, bytesPerDay=100000000000, runsPerMinute=100000',
    SESSIONS_QUOTAS_APP: 'sessions=10000, appendsPerMinute=10000000',
    AUDIT: 'table',
    AUTH_API_KEYS: JSON.stringify(users.map(({ entry }) => entry)),
  },
});
const ended = once(app, 'exit');
try {
  const url = await addressOf(app);
  const over = new AbortController();
  const living = users.map((user) => comeAndGo(url, user, over.signal));
  const samples = await watchMemory(minutes * 60_000);
  over.abort();
  await Promise.all(living);
  const after = samples.slice(Math.floor(samples.length * WARM_UP));
  const third = Math.ceil(after.length / 3);
  const [first, last] = [after.slice(0, third), after.slice(-third)].map((part) =>
    median(part.map(({ kept }) => kept)),
  );
  const growth = (last - first) / MB;
  console.log({
    ...counts,
    firstMB: (first / MB).toFixed(1),
    lastMB: (last / MB).toFixed(1),
    growthMB: growth.toFixed(1),
  });
  for (const problem of problems.slice(0, 10)) console.log(problem);
  if (growth > MOST_GROWTH_MB || counts.wrong > 0 || problems.length > 0) process.exitCode = 1;
} finally {
  app.kill('SIGTERM');
  const [code] = await ended;
  if (code !== 0) {
    console.log(`The app ended with ${code}`);
    process.exitCode = 1;
  }
  await rm(folder, { recursive: true });
}

/** One user after the other: talks to the agent, watches, appends, searches, lists, is checked, and is deleted. */
async function comeAndGo(url, { userId, key }, signal) {
  const client = new SessionsClient({ url, headers: { authorization: `Bearer ${key}` } });
  while (!signal.aborted) {
    try {
      await liveOnce(client, { appName: 'demo', userId, sessionId: randomUUID() }, url);
    } catch (error) {
      problems.push(`${userId}: ${String(error)}`);
      await delay(1_000);
    }
  }
}

async function liveOnce(client, key, url) {
  await client.createSession(key);
  const watch = client.watch({ ...key, afterSeq: 0 })[Symbol.asyncIterator]();
  for (const newMessage of ['My name is Ann.', 'What did I say?']) {
    for await (const event of client.streamAgent({ ...key, newMessage })) counts.pieces += event.partial ? 1 : 0;
  }
  const events = Array.from({ length: 20 }, (_, index) => ({
    author: 'user',
    content: { parts: [{ text: `word${index}` }] },
  }));
  for (const event of events) await client.appendEvent({ ...key, event });
  await client.appendEvents({ ...key, events });
  const { events: stored } = await client.listEvents({ ...key, limit: 1_000 });
  for (let count = 0; count < stored.length; count++) await watch.next();
  await watch.return?.();
  const said = stored.filter(({ author }) => author === 'user').length;
  // Two messages, and each event twice: one by one, and together.
  if (said !== 2 + 2 * events.length || stored.some(({ seq }, index) => seq !== index + 1)) counts.wrong++;
  const { hits } = await client.searchEvents({ appName: key.appName, userId: key.userId, text: 'word7' });
  counts.found += hits.length;
  await client.listSessions({ appName: key.appName, userId: key.userId });
  for (const path of ['/metrics', '/health/ready', '/inspector']) await (await fetch(url + path)).text();
  await client.deleteSession(key);
  counts.sessions++;
  counts.events += stored.length;
}

/** A key of a user, and what the app gets of it. */
function apiKeyOf(userId) {
  const command = [fileOf('../dist/cli/main.js'), 'api-key', userId, '--user', userId, '--preset', 'client'];
  const { stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  return { key: stdout.trim(), entry: JSON.parse(/^\{.*\}$/m.exec(stderr)?.[0] ?? '') };
}

async function watchMemory(durationMs) {
  const samples = [];
  for (let count = 0; count < SAMPLES; count++) {
    await delay(durationMs / SAMPLES);
    app.send('memory');
    const [{ heapUsed, external, rss }] = await once(app, 'message');
    samples.push({ kept: heapUsed + external });
    if (count % 10 === 9)
      console.log(
        `${((heapUsed + external) / MB).toFixed(1)} MB kept, ${(rss / MB).toFixed(0)} MB in all, ${counts.sessions} sessions`,
      );
  }
  return samples;
}

async function addressOf({ stdout }) {
  let printed = '';
  for await (const chunk of stdout) {
    printed += String(chunk);
    const address = /listening on\s+(\S+)/.exec(printed)?.[1];
    if (address) {
      stdout.resume();
      return address;
    }
  }
  throw new Error(`The app did not start: ${printed}`);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
