import { Client } from 'pg';
import { ConfigurationError, SessionService, StoreUnavailableError } from '../../src/index.js';
import { type ServerOptions, TypeOrmSessionStorage } from '../../src/typeorm.js';
import { type PgBouncerOptions, startPgBouncer } from '../servers/private-pgbouncer.js';
import { startPostgres } from '../servers/private-postgres.js';
import type { PrivateServer } from '../servers/private-server.js';
import { requiredBinary } from '../support/processes/killable-stores.js';
import { chosenStoreNames } from '../support/store-names.js';
import { retryUntilSuccess } from '../support/until.js';

const USER = { appName: 'shop', userId: 'ann' };
/** More than a test takes. */
const NEVER = 1_000_000;
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

  type Options = Partial<ServerOptions> & { readonly watchPollMs?: number };

  async function behind(options: PgBouncerOptions): Promise<(more?: Options) => SessionService> {
    const { address: url } = (bouncer = await startPgBouncer(postgres.address, options));
    return ({ watchPollMs, ...more } = {}) => {
      const storage = new TypeOrmSessionStorage({ url, pooler: 'transaction', ...more });
      const sessions = new SessionService({ storage, ...(watchPollMs !== undefined && { watchPollMs }) });
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
    expect(String(error)).toContain(
      `did not answer within ${timeLimitMs} ms (timeLimitMs) on a new connection (a pooler may`,
    );
    expect(String(error)).toContain(FULL);
  });

  describe('in transaction mode', () => {
    let open: Awaited<ReturnType<typeof behind>>;

    beforeEach(async () => {
      open = await behind({ poolMode: 'transaction', poolSize: 2 });
    });

    it('works as it is installed, with fewer connections than the instances have', async () => {
      const [first, second] = [open(), open()];
      const ids = Array.from({ length: 20 }, (_, index) => `s-${index}`);
      await Promise.all(ids.map((sessionId) => first.createSession({ ...USER, sessionId })));
      await Promise.all(ids.map((id) => second.append({ session: { ...USER, id }, event: { author: 'user' } })));
      const { sessions } = await first.listSessions(USER);
      expect(sessions.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    });

    it('delivers no news itself, so that watches poll', async () => {
      const session = await open().createSession(USER);
      const watch = open({ watchPollMs: 20 }).watch({ ...USER, sessionId: session.id, afterSeq: 0 });
      await open().append({ session, event: { author: 'user' } });
      expect((await watch.next()).value).toMatchObject({ seq: 1 });
    });

    it('is passed by for news, with a listenUrl', async () => {
      const session = await open().createSession(USER);
      const direct = open({ listenUrl: postgres.address, watchPollMs: NEVER });
      const watch = direct.watch({ ...USER, sessionId: session.id, afterSeq: 0 });
      for (let seq = 1; seq <= 3; seq++) {
        const next = watch.next();
        await open().append({ session, event: { author: 'user' } });
        expect((await next).value).toMatchObject({ seq });
      }
    });

    it('is refused as a listenUrl, and so is another database, or no server', async () => {
      const [{ address = '' } = {}] = [bouncer];
      const throughPooler = await failureOf(open({ listenUrl: address }).getSession(KEY));
      expect(throughPooler).toBeInstanceOf(ConfigurationError);
      expect(String(throughPooler)).toContain('The listenUrl leads to a pooler, which delivers no notifications');
      const elsewhere = new URL(postgres.address);
      elsewhere.pathname = '/template1';
      const other = await failureOf(open({ listenUrl: elsewhere.href }).getSession(KEY));
      expect(other).toBeInstanceOf(ConfigurationError);
      expect(String(other)).toContain('The listenUrl leads to another database than the url');
      const nowhere = await failureOf(open({ listenUrl: 'postgres://u@127.0.0.1:1/d' }).getSession(KEY));
      expect(nowhere).toBeInstanceOf(StoreUnavailableError);
      expect(String(nowhere)).toContain('127.0.0.1:1');
    });

    it('gets warnings while its user has no time limits for locks', async () => {
      const storage = storageAt({ pooler: 'transaction' });
      expect(await storage.warnings()).toEqual([
        expect.stringContaining('has no lock_timeout'),
        expect.stringContaining('has no idle_in_transaction_session_timeout'),
      ]);
      await storage.close();
      await admin(`ALTER ROLE postgres SET lock_timeout = '1s'`);
      await admin(`ALTER ROLE postgres SET idle_in_transaction_session_timeout = '10s'`);
      await admin(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      );
      try {
        const limited = storageAt({ pooler: 'transaction' });
        expect(await limited.warnings()).toEqual([]);
        await limited.close();
      } finally {
        await admin('ALTER ROLE postgres RESET ALL');
      }
    });
  });

  it('that no setting names gets a warning, and an error that says so where statements are prepared', async () => {
    await behind({ poolMode: 'transaction', poolSize: 1, ignoresSettings: true });
    const first = storageAt({});
    expect((await first.warnings())[0]).toContain('set pooler to transaction (SESSIONS_DATABASE_POOLER)');
    const second = storageAt({ poolSize: 1 });
    const services = [first, second].map((storage) => new SessionService({ storage }));
    opened.push(...services);
    const errors = [];
    for (const service of services) {
      errors.push(await failureOf(service.createSession(USER)), await failureOf(service.listSessions(USER)));
    }
    expect(errors.map(String).join()).toContain('a pooler shares connections, so set pooler to transaction');
  });

  function storageAt(options: Partial<ServerOptions>): TypeOrmSessionStorage {
    return new TypeOrmSessionStorage({ url: bouncer?.address ?? '', ...options });
  }

  async function admin(statement: string): Promise<void> {
    const client = new Client({ connectionString: postgres.address });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  }
}

async function failureOf(calling: Promise<unknown>): Promise<unknown> {
  return calling.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}
