import { SessionService } from '../../src/index.js';
import { encryptedStorage } from '../../src/sessions/encryption/encrypted-storage.js';
import { ManualClock } from '../../src/testing/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { appDatabases } from '../support/app-databases.js';
import { KEY_A } from './support.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const says = (text: string) => ({ author: 'user', content: { role: 'user', parts: [{ text }] } });

describe.each(appDatabases.map(([name, open]) => ({ name, open })))('Encryption on $name', ({ open }) => {
  it('works in a transaction of the app, also after the time of its keys', async () => {
    const database = await open();
    try {
      const dataSource = await database.connect();
      await dataSource.runMigrations();
      const clock = new ManualClock();
      const storage = encryptedStorage(
        new TypeOrmSessionStorage({ dataSource }),
        { keys: KEY_A, cacheSeconds: 60 },
        clock,
      );
      const sessions = new SessionService({ storage });
      const session = await sessions.createSession({ ...KEY, state: { 'app:a': 1 } });
      await sessions.appendEvent({ session, event: says('before') });
      clock.advanceSeconds(61);
      await dataSource.transaction(async (transaction) => {
        const event = { ...says('within'), actions: { stateDelta: { 'app:a': 2 } } };
        await sessions.appendEvent({ session, event, transaction });
      });
      const read = await sessions.getSession(KEY);
      expect(read?.events.map(({ content }) => content?.parts?.[0]?.text)).toEqual(['before', 'within']);
      expect(read?.state.get('app:a')).toBe(2);
      await sessions.close();
    } finally {
      await database.close();
    }
  });
});
