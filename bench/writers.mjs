// Two writers with connections of their own, as two instances of an app: what of their acknowledged writes is there in the end?
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionService } from '../dist/index.js';
import { TypeOrmSessionStorage } from '../dist/typeorm.js';
import { OWNER } from './support/owner.mjs';
import { SERVER_NAMES, withServer } from './support/server-sides.mjs';

const EVENTS_EACH = 500;
const KEYS_EACH = 200;

const rows = [{ store: 'sqlite', ...(await onSqlite()) }];
for (const name of SERVER_NAMES) {
  const row = await withServer(name, ({ newStorage }) => withWriters(newStorage));
  if (row) rows.push({ store: name, ...row });
}
console.table(rows);

async function onSqlite() {
  const directory = await mkdtemp(join(tmpdir(), 'sessions-bench-'));
  try {
    return await withWriters(() => new TypeOrmSessionStorage({ database: join(directory, 'sessions.db') }));
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function withWriters(newStorage) {
  const writers = [newStorage(), newStorage()].map((storage) => new SessionService({ storage }));
  try {
    return { ...(await oneSession(writers)), ...(await oneUser(writers)) };
  } finally {
    for (const writer of writers) await writer.close();
  }
}

/** Both append to one session, each event with its own state key. */
async function oneSession(writers) {
  await writers[0].createSession({ ...OWNER, sessionId: 'one' });
  const session = { ...OWNER, id: 'one' };
  await Promise.all(
    writers.map(async (writer, index) => {
      for (let number = 0; number < EVENTS_EACH; number++) {
        const id = `${index}-${number}`;
        await writer.appendEvent({
          session,
          event: { id, author: 'agent', actions: { stateDelta: { [id]: number } } },
        });
      }
    }),
  );
  const { state, events } = await writers[0].getSession({ ...OWNER, sessionId: 'one' });
  const acknowledged = EVENTS_EACH * writers.length;
  return {
    'events lost': acknowledged - new Set(events.map(({ id }) => id)).size,
    'session keys lost': acknowledged - Object.keys(state).filter((key) => /^\d-\d+$/.test(key)).length,
    'in order': events.every(({ seq }, index) => seq === index + 1),
  };
}

/** Each has its own session, and both set `user:` keys of the same user. */
async function oneUser(writers) {
  await Promise.all(
    writers.map(async (writer, index) => {
      const session = await writer.createSession({ ...OWNER, sessionId: `of-${index}` });
      for (let number = 0; number < KEYS_EACH; number++) {
        const stateDelta = { [`user:${index}-${number}`]: number };
        await writer.appendEvent({ session, event: { author: 'agent', actions: { stateDelta } } });
      }
    }),
  );
  const keys = Object.keys(await writers[0].getUserState(OWNER)).filter((key) => /^\d-\d+$/.test(key));
  return { 'user: keys lost': KEYS_EACH * writers.length - keys.length };
}
