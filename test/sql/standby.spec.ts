import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SessionService, StoreUnavailableError } from '../../src/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { askPostgres } from '../servers/postgres-standby.js';
import { ownerOfPostgres, startPostgres } from '../servers/private-postgres.js';
import type { PrivateServer } from '../servers/private-server.js';
import { requiredBinary } from '../support/processes/killable-stores.js';
import { chosenStoreNames } from '../support/store-names.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
const EVENT = { author: 'user' };

if (chosenStoreNames().includes('postgres')) describe('A PostgreSQL standby', describeStandby);
else it('A PostgreSQL standby is not selected by STORES', () => expect(chosenStoreNames()).not.toContain('postgres'));

function describeStandby(): void {
  let server: PrivateServer;
  let isStandby = false;
  const opened: SessionService[] = [];

  beforeAll(async () => {
    const owner = ownerOfPostgres();
    server = await startPostgres(
      { command: requiredBinary('postgres'), initdb: requiredBinary('initdb') },
      {
        durable: true,
        check: (address) => askPostgres(address, 'SELECT 1'),
        // Its standby recovers what a kill left, and then waits for more.
        beforeStart(data) {
          if (!isStandby) return;
          const signal = join(data, 'standby.signal');
          writeFileSync(signal, '');
          if (owner.uid !== undefined && owner.gid !== undefined) chownSync(signal, owner.uid, owner.gid);
        },
      },
    );
  });

  afterAll(async () => {
    await Promise.all(opened.map((sessions) => sessions.close()));
    await server?.stop();
  });

  function serviceOver(): SessionService {
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ url: server.address }) });
    opened.push(sessions);
    return sessions;
  }

  it('is named when the store is opened, and when a primary has become one, until it is promoted', async () => {
    const sessions = serviceOver();
    await sessions.createSession(KEY);
    for (let count = 0; count < 3; count++) await sessions.append({ session: SESSION, event: EVENT });
    await server.kill();
    isStandby = true;
    await server.restart();
    expect(await askPostgres(server.address, 'SELECT pg_is_in_recovery() AS standby')).toEqual([{ standby: true }]);

    const opening = await failureOf(serviceOver().getSession(KEY));
    expect(String(opening)).toContain('is read-only: give the url of a primary, not of a replica');
    await until(async () => {
      const error = await failureOf(sessions.append({ session: SESSION, event: EVENT }));
      return String(error).includes('it is read-only, for example a replica');
    });

    await askPostgres(server.address, 'SELECT pg_promote()');
    await sessions.append({ session: SESSION, event: EVENT });
    expect(await sessions.getSession(KEY)).toMatchObject({ version: 4 });
  });
}

async function failureOf(calling: Promise<unknown>): Promise<unknown> {
  const error: unknown = await calling.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StoreUnavailableError);
  expect(error).toMatchObject({ outcomeUnknown: false });
  return error;
}
