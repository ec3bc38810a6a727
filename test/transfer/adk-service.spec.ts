import { LogLevel, type Session, setLogLevel } from '@google/adk';
import { DatabaseSessionService } from '@google/adk/sessions/database';
import { LibSqlDriver } from '@mikro-orm/libsql';
import { MySqlDriver } from '@mikro-orm/mysql';
import { PostgreSqlDriver } from '@mikro-orm/postgresql';
import { AdkSessionService } from '../../src/adapters/adk/index.js';
import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { adkSessions, importRecords } from '../../src/transfer/index.js';
import { STATE_KEYS, pick, randomEvent, randomState } from '../adapters/adk/support/random-events.js';
import { describeChosen } from '../support/processes/shared-stores.js';
import { randomNumbers, seed } from '../support/random.js';
import { type ForeignServer, mariaDb, postgres, sqlite } from './foreign-servers.js';

setLogLevel(LogLevel.ERROR);

/** Its service loses a key `__proto__`. */
const KEYS = STATE_KEYS.filter((key) => key !== '__proto__');
const APPS = ['shop', 'travel'];
const USERS = ['ann', 'böb'];
const STEPS = 50;

const DRIVERS = { sqlite: LibSqlDriver, mariadb: MySqlDriver, postgres: PostgreSqlDriver };
type Orm = { readonly orm?: { close(): Promise<void> } };

const SERVERS: readonly ForeignServer[] = [sqlite, mariaDb, postgres];

describeChosen('what DatabaseSessionService of ADK has written to $name', SERVERS, (server) => {
  it('is what AdkSessionService shows after the import', async () => {
    const opened = await server.open();
    const { login, dbName } = opened;
    const theirs = new DatabaseSessionService({ driver: DRIVERS[server.name], dbName, ...login });
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage });
    try {
      const order = await converse(theirs, server);
      const { bad } = await importRecords(storage, adkSessions(opened.database));
      expect(bad).toBe(0);
      const ours = new AdkSessionService({ sessions });
      for (const appName of APPS) {
        const [expected, found] = [await theirs.listSessions({ appName }), await ours.listSessions({ appName })];
        expect(byId(found.sessions)).toEqual(byId(expected.sessions));
        for (const { id: sessionId, userId } of expected.sessions) {
          const key = { appName, userId, sessionId };
          const [before, after] = [await theirs.getSession(key), await ours.getSession(key)];
          expect(shownOf(after)).toEqual(shownOf(before, order));
        }
      }
    } catch (error) {
      throw new Error(`SEED=${seed} repeats it`, { cause: error });
    } finally {
      await (theirs as unknown as Orm).orm?.close();
      await opened.destroy();
      await sessions.close();
    }
  });
});

/** Random conversations of several users at the same time. Returns the order in which events were appended. */
async function converse(service: DatabaseSessionService, { name }: ForeignServer): Promise<string[]> {
  const random = randomNumbers(seed);
  const held: Session[] = [];
  const order: string[] = [];
  let time = Date.now();
  for (let step = 0; step < STEPS; step++) {
    time += Math.floor(random() * 700);
    if (held.length < 3 || random() < 0.1) {
      const key = { appName: pick(random, APPS), userId: pick(random, USERS), sessionId: `s-${step}` };
      held.push(await service.createSession({ ...key, state: randomState(random, KEYS) }));
      continue;
    }
    const event = randomEvent(random, `e-${Math.floor(random() * 1e9)}`, time, KEYS);
    // JSON of PostgreSQL has no such character.
    if (name === 'postgres')
      event.content?.parts?.forEach((part) => part.text && (part.text = part.text.replace('\0', '')));
    await service.appendEvent({ session: pick(random, held), event });
    order.push(event.id);
  }
  return order;
}

function byId(sessions: readonly Session[]): unknown[] {
  return sessions
    .map((session) => shownOf(session))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** A session as JSON. ADK shows events of the same time in any order. */
function shownOf(session: Session | undefined, order: readonly string[] = []): unknown {
  const { events = [], state = {}, ...rest } = session ?? {};
  const place = ({ id }: { id: string }): number => order.indexOf(id);
  const sorted =
    order.length > 0 ? events.toSorted((a, b) => a.timestamp - b.timestamp || place(a) - place(b)) : events;
  return JSON.parse(JSON.stringify({ ...rest, state: { ...state }, events: sorted }));
}
