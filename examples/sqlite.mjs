// Sessions in a file: they outlive the process, and repeating an append is safe.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSessionService } from 'nestjs-agent-sessions/typeorm';

const folder = await mkdtemp(join(tmpdir(), 'agent-sessions-example-'));
const database = join(folder, 'sessions.db');
const key = { appName: 'shop', userId: 'ann', sessionId: 'order-7' };

const before = new DatabaseSessionService({ database });
const session = await before.createSession(key);
const event = { id: 'order-placed', author: 'agent', actions: { stateDelta: { total: 42 } } };
console.log('appended     ', (await before.append({ session, event })).event.seq);
await before.close();

// Another process, later. It is not sure whether the append got through, so it sends it again.
const after = new DatabaseSessionService({ database });
const loaded = await after.getSession(key);
const again = await after.append({ session: loaded, event });
console.log('sent again   ', { seq: again.event.seq, duplicate: again.duplicate });

// A writer that decided on an old version is told so.
await after.appendEvent({ session: loaded, event: { author: 'agent', actions: { stateDelta: { total: 40 } } } });
const tooLate = { session: loaded, event: { author: 'agent' }, expectedVersion: 1 };
console.log('too late     ', await after.appendEvent(tooLate).catch((error) => `${error.code}: ${error.message}`));

console.log('state        ', (await after.getSession(key)).state);
await after.close();
await rm(folder, { recursive: true });
