import { ConfigurationError, SessionService, StoreUnavailableError } from '../../src/index.js';
import { type ServerOptions, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { type PgBouncerOptions, startPgBouncer } from '../servers/private-pgbouncer.js';
import { startPostgres } from '../servers/private-postgres.js';
import type { PrivateServer } from '../servers/private-server.js';
import { requiredBinary } from '../support/processes/killable-stores.js';
import { chosenStoreNames } from '../support/store-names.js';
import { retryUntilSuccess } from '../support/until.js';

const USER = { appName: 'shop', userId: 'ann' };
const KEY = { ...USER, sessionId: 'one' };
const FULL = 'in session mode, its default_pool_size must be at least the sum of the pools of all instances';

if (chosenStoreNames().includes('postgres')) describe('PgBouncer in front of PostgreSQL', describePoolers);
else it('PgBouncer is not selected by STORES', () => expect(chosenStoreNames()).not.toContain('postgres'));

function describePoolers(): void {
  let postgres: PrivateServer;
  let bouncer: PrivateServer | undefined;
  let opened: SessionService[];

  beforeAll(async () => {
    postgres = await startPostgres({ command: requiredBinary('postgres'), initdb: requiredBinary('initdb') });
  });

  afterAll(() => postgres?.stop());

  beforeEach(() => {
    opened = [];
  });

  afterEach(async () => {
    await Promise.all(opened.map((sessions) => sessions.close()));
    await bouncer?.stop();
    bouncer = undefined;
  });

  async function behind(options: PgBouncerOptions): Promise<(more?: Partial<ServerOptions>) => SessionService> {
    const { address: url } = (bouncer = await startPgBouncer(postgres.address, options));
    return (more) => {
      const storage = new TypeOrmSessionStorage({ url, preparedStatements: false, ...more });
      const sessions = new SessionService({ storage });
      opened.push(sessions);
      return sessions;
    };
  }

  it('is refused in statement mode, which allows no transactions', async () => {
    const open = await behind({ poolMode: 'statement' });
    const error = await failureOf(open().getSession(KEY));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).toContain(
      'has pool_mode = statement, which allows no transactions: set it to transaction or session.',
    );
  });

  it('in session mode, gets a hint if its pool is smaller than those of the instances', async () => {
    const open = await behind({ poolMode: 'session', poolSize: 1 });
    // Creating the tables may take longer than the time limit.
    const creator = open({ poolSize: 1 });
    await creator.createSession(KEY);
    await creator.close();
    const timeLimitMs = 3_000;
    const first = open({ poolSize: 2, timeLimitMs });
    await retryUntilSuccess(() => first.getSession(KEY));
    const second = await failureOf(open({ timeLimitMs }).getSession(KEY));
    expect(second).toBeInstanceOf(StoreUnavailableError);
    expect(String(second)).toContain(
      `answered to a login, and then no longer in time (a pooler may have no connection`,
    );
    expect(String(second)).toContain(FULL);
    // The second connection of the first waits as well.
    const calls = await Promise.all([1, 2].map(() => failureOf(first.listSessions(USER))));
    const failed = calls.filter((error) => error !== undefined);
    expect(failed).toHaveLength(1);
    const error: unknown = failed[0];
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(String(error)).toContain(`did not answer within ${timeLimitMs} ms on a new connection (a pooler may`);
    expect(String(error)).toContain(FULL);
  });

  it('works in transaction mode, with fewer connections than the instances have', async () => {
    const open = await behind({ poolMode: 'transaction', poolSize: 2 });
    const [first, second] = [open(), open()];
    const ids = Array.from({ length: 20 }, (_, index) => `s-${index}`);
    await Promise.all(ids.map((sessionId) => first.createSession({ ...USER, sessionId })));
    await Promise.all(ids.map((id) => second.append({ session: { ...USER, id }, event: { author: 'user' } })));
    const { sessions } = await first.listSessions(USER);
    expect(sessions.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  });
}

async function failureOf(calling: Promise<unknown>): Promise<unknown> {
  return calling.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}
