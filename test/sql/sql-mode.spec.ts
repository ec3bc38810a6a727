import { SessionService } from '../../src/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { binaryFolders } from '../servers/binaries.js';
import { mariadb } from '../servers/mariadb.js';
import { mariaDbServer } from '../support/sql-servers.js';
import { describeSqlServers } from '../support/sql-bench.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };
/** Would end a string literal without backslash escapes. */
const TEXT = `\\' OR 1 = 1 -- ' \\\\ " \\`;

describeSqlServers(
  'A $name server that switches to NO_BACKSLASH_ESCAPES',
  () => {
    it('stores text unchanged over connections that are opened after that', async () => {
      // A global setting needs a private server.
      const server = await mariadb.starter(binaryFolders())?.();
      if (!server) throw new Error('Neither mariadbd nor mariadb-install-db is here: install mariadb-server');
      try {
        const { storageOptions } = await mariaDbServer.createDatabase(server.address);
        const storage = new TypeOrmSessionStorage(storageOptions);
        await storage.open();
        const raw = await mariaDbServer.connect(server.address);
        await raw.query("SET GLOBAL sql_mode = CONCAT(@@GLOBAL.sql_mode, ',NO_BACKSLASH_ESCAPES')");
        await raw.close();
        const sessions = new SessionService({ storage });
        await sessions.createSession(KEY);
        const stateDelta = { k: TEXT };
        const appends = Array.from({ length: 20 }, async (_, index) => {
          await sessions.getSession(KEY);
          return sessions.append({
            session: SESSION,
            event: { author: 'user', id: `${index} ${TEXT.trim()}`, actions: { stateDelta } },
          });
        });
        expect(await Promise.all(appends)).toHaveLength(20);
        const read = await sessions.getSession(KEY);
        expect(read?.state.toRecord()).toEqual(stateDelta);
        expect(read?.events.every(({ id }) => id.endsWith(TEXT))).toBe(true);
        await sessions.close();
      } finally {
        await server.stop();
      }
    });
  },
  ['mariadb'],
);
