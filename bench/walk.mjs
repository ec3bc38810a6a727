// The way of one append: how often functions of the package are entered, how many of them there are, and in how many files.
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NestFactory } from '@nestjs/core';
import { InMemorySessionStorage, SessionService, SessionsModule } from '../dist/index.js';
import { RedisSessionStorage } from '../dist/redis.js';
import { OpenAccess, SessionsRestModule } from '../dist/rest.js';
import { TypeOrmSessionStorage } from '../dist/typeorm.js';
import { makeEvents } from './support/events.mjs';
import { OWNER } from './support/owner.mjs';
import { SERVER_NAMES, withServer } from './support/server-sides.mjs';

export const title = 'The way of one append';

const DIST = new URL('../dist/', import.meta.url).href;

export async function run() {
  const folder = await mkdtemp(join(tmpdir(), 'walk-'));
  const rows = [
    await walked('memory', new InMemorySessionStorage()),
    await walked('sqlite', new TypeOrmSessionStorage({ database: join(folder, 'walk.db') })),
  ];
  for (const name of SERVER_NAMES) {
    const open = (place) => (name === 'redis' ? new RedisSessionStorage(place) : new TypeOrmSessionStorage(place));
    const row = await withServer(name, ({ place }) => walked(name, open(place)));
    if (row) rows.push(row);
  }
  rows.push(await walkedByRest());
  await rm(folder, { recursive: true });
  console.table(rows);
  return [];
}

async function walked(name, storage) {
  const service = new SessionService({ storage });
  const session = await service.createSession(OWNER);
  const row = await entered(name, (event) => service.appendEvent({ session, event }));
  await service.close();
  return row;
}

async function walkedByRest() {
  const root = SessionsRestModule.forRoot({
    access: OpenAccess,
    imports: [SessionsModule.forRoot({ provider: 'memory', isGlobal: true })],
  });
  const app = await NestFactory.create(root, { logger: false });
  await app.listen(0, '127.0.0.1');
  const { id } = await app.get(SessionService).createSession(OWNER);
  const url = `${await app.getUrl()}/apps/${OWNER.appName}/users/${OWNER.userId}/sessions/${id}/events`;
  const row = await entered('memory, by REST', async (event) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
    });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.text();
  });
  await app.close();
  return row;
}

/** What one append enters, once the first ones have made what is made once. */
async function entered(name, append) {
  const [measured, ...before] = makeEvents(4).toReversed();
  for (const event of before) await append(event);
  const inspector = new Session();
  inspector.connect();
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await append(measured);
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  inspector.disconnect();
  const calls = result
    .filter(({ url }) => url.startsWith(DIST) || url.startsWith(fileURLToPath(DIST)))
    .flatMap(({ url, functions }) => {
      const sourceAt = sourcesOf(url.startsWith('file:') ? fileURLToPath(url) : url);
      return functions.map(({ ranges: [{ count, startOffset }] }) => ({ count, source: sourceAt(startOffset) }));
    })
    .filter(({ count }) => count > 0);
  const entries = calls.reduce((sum, { count }) => sum + count, 0);
  const files = new Set(calls.map(({ source }) => source)).size;
  return { append: name, entries, functions: calls.length, files };
}

/** Which source a place in a built file comes from. */
function sourcesOf(file) {
  const starts = [0];
  for (const { index } of readFileSync(file, 'utf8').matchAll(/\n/g)) starts.push(index + 1);
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    return map.findEntry(line, offset - starts[line]).originalSource;
  };
}
