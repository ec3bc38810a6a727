// Sessions move from one store to another: a file of lines, an import that can be repeated, a comparison, and an erased user.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InMemorySessionStorage, SessionService } from 'nestjs-agent-sessions';
import { exportSessions, importSessions, verifySessions } from 'nestjs-agent-sessions/transfer';
import { TypeOrmSessionStorage } from 'nestjs-agent-sessions/typeorm';

const folder = await mkdtemp(join(tmpdir(), 'agent-sessions-example-'));
const file = join(folder, 'sessions.ndjson');
const [from, to] = [new InMemorySessionStorage(), new TypeOrmSessionStorage({ database: join(folder, 'sessions.db') })];

const before = new SessionService({ storage: from });
const key = { appName: 'shop', userId: 'ann', sessionId: 'order-7' };
const session = await before.createSession({ ...key, state: { step: 1, 'user:theme': 'dark' } });
for (const text of ['Hello', 'Where is my order?']) {
  await before.appendEvent({ session, event: { author: 'user', content: { role: 'user', parts: [{ text }] } } });
}

await pipeline(Readable.from(exportSessions(from)), createWriteStream(file));

const { sessions, events, states } = await importSessions(to, createReadStream(file));
console.log('imported     ', { created: sessions.created, events, states });
const again = await importSessions(to, createReadStream(file));
console.log('once more    ', {
  created: again.sessions.created,
  unchanged: again.sessions.unchanged,
  events: again.events,
});
console.log('compared     ', (await verifySessions(to, createReadStream(file))).isEqual);

const after = new SessionService({ storage: to });
const moved = await after.getSession(key);
console.log(
  'moved        ',
  moved?.events.map(({ seq, content }) => `${seq}: ${content?.parts?.[0]?.text}`),
  moved?.state,
);

console.log('erased       ', await after.eraseUser({ appName: 'shop', userId: 'ann' }));
console.log('left         ', await after.getSession(key), await after.getUserState({ appName: 'shop', userId: 'ann' }));
await after.close();
await before.close();
await rm(folder, { recursive: true });
