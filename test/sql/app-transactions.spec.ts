import { inspect } from 'node:util';
import { type DataSource, type EntityManager, type EntitySubscriberInterface, QueryFailedError } from 'typeorm';
import {
  type EventInput,
  type InvalidInputError,
  type LoggedEvent,
  type Session,
  type SessionKey,
  type SessionReference,
  SessionService,
} from '../../src/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { agentSays, userSays } from '../../src/testing/service-contract/support.js';
import { type AppDatabase, appDatabases } from '../support/app-databases.js';
import { sqlProblems } from '../support/sql-integrity.js';
import { until } from '../support/until.js';

const keyOf = ({ appName, userId, id }: Session): SessionKey => ({ appName, userId, sessionId: id });
const referenceOf = ({ appName, userId, id }: Session): SessionReference => ({ appName, userId, id });
const seqsOf = (session: Session): number[] => session.events.map(({ seq }) => seq);

/** Writes a row of the app. */
async function order(manager: EntityManager, id: number): Promise<void> {
  await manager.query(`INSERT INTO orders (id) VALUES (${id})`);
}

/** Makes writes of the state `broken` fail. */
const BREAK: Readonly<Record<string, readonly string[]>> = {
  mariadb: [
    `CREATE TRIGGER broken BEFORE UPDATE ON agent_sessions FOR EACH ROW
      IF NEW.state LIKE '%broken%' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'broken'; END IF`,
  ],
  postgres: ["ALTER TABLE agent_sessions ADD CONSTRAINT broken CHECK (state NOT LIKE '%broken%')"],
  sqlite: [
    `CREATE TRIGGER broken BEFORE UPDATE ON agent_sessions WHEN NEW.state LIKE '%broken%'
      BEGIN SELECT RAISE(ABORT, 'broken'); END`,
  ],
};

/** All tests of a database share it, and each has a session of its own. */
for (const [name, open] of appDatabases) {
  describe(`A transaction of the app on ${name}`, () => {
    let database: AppDatabase;
    let dataSource: DataSource;
    let sessions: SessionService;
    let appended: LoggedEvent[];
    const errors: unknown[] = [];
    let sessionNumber = 0;

    beforeAll(async () => {
      database = await open();
      dataSource = await database.connect();
      await dataSource.runMigrations();
      await dataSource.query('CREATE TABLE orders (id integer)');
    });
    beforeEach(() => {
      sessions = service(dataSource);
      appended = [];
      sessions.hooks.onAfterAppend(({ event }) => void appended.push(event));
    });
    afterEach(async () => {
      await sessions.close();
      expect(errors.splice(0)).toEqual([]);
    });
    afterAll(async () => {
      expect(await sqlProblems(async (query) => [...(await database.committed(query))])).toEqual([]);
      await database.close();
    });

    function service(over: DataSource): SessionService {
      const storage = new TypeOrmSessionStorage({ dataSource: over });
      return new SessionService({ storage, watchPollMs: 20, onBackgroundError: (error) => errors.push(error) });
    }

    async function newSession(state: Record<string, unknown> = {}): Promise<Session> {
      const number = (sessionNumber += 1);
      return sessions.createSession({ appName: 'shop', userId: `u-${number}`, sessionId: `s-${number}`, state });
    }

    async function load(session: Session): Promise<Session> {
      const found = await sessions.getSession(keyOf(session));
      if (!found) throw new Error(`There is no session ${session.id}`);
      return found;
    }
    const ordersOf = async (id: number) => (await database.committed(`SELECT id FROM orders WHERE id = ${id}`)).length;
    const storedEvents = async ({ id }: Session) =>
      database.committed(`
        SELECT e.event_id FROM agent_session_events e JOIN agent_sessions s ON s.pk = e.session_pk
        WHERE s.session_id = '${id}'`);

    it('commits events with the rows of the app, and shows them only afterwards', async () => {
      const session = await newSession({ step: 1 });
      const other = service(await database.connect());
      const watched = { ...keyOf(session), afterSeq: 0 };
      const [here, there] = [sessions.watch(watched), other.watch(watched)];
      const heard = [here.next(), there.next()];
      const stored = await dataSource.transaction(async (transaction) => {
        await order(transaction, 1);
        const event = agentSays('ordered', { actions: { stateDelta: { step: 2, 'user:orders': 1, 'temp:t': 1 } } });
        const first = await sessions.appendEvent({ session, event, transaction });
        expect(first.seq).toBe(1);
        expect(session).toMatchObject({ version: 0, events: [] });
        expect(session.state.toRecord()).toEqual({ step: 1 });
        expect(await storedEvents(session)).toEqual([]);
        expect(appended).toEqual([]);
        return first;
      });
      expect(await ordersOf(1)).toBe(1);
      expect(session.version).toBe(1);
      expect(session.state.toRecord()).toEqual({ step: 2, 'user:orders': 1, 'temp:t': 1 });
      expect(session.events).toEqual([stored]);
      await sessions.whenIdle();
      expect(appended).toEqual([stored]);
      for (const next of await Promise.all(heard)) expect(next.value).toEqual(stored);
      await Promise.all([here.return?.(), there.return?.()]);
      await other.close();
    });

    it('takes events back with the rows of the app, and leaves the session object as it was', async () => {
      const session = await newSession();
      const event = userSays('never mind', { id: 'e-1', actions: { stateDelta: { a: 1, 'temp:b': 2 } } });
      const failing = dataSource.transaction(async (transaction) => {
        await order(transaction, 2);
        await sessions.appendEvent({ session, event, transaction });
        throw new Error('no stock');
      });
      await expect(failing).rejects.toThrow('no stock');
      expect(await ordersOf(2)).toBe(0);
      expect(session).toMatchObject({ version: 0, events: [], conversationCount: 0 });
      expect(session.state.toRecord()).toEqual({});
      expect(await load(session)).toMatchObject({ version: 0, events: [] });
      await sessions.whenIdle();
      expect(appended).toEqual([]);

      await dataSource.transaction((transaction) => sessions.appendEvent({ session, event, transaction }));
      expect(session.version).toBe(1);
      expect(appended).toHaveLength(1);
    });

    it('holds several appends, also parallel ones, batches and repetitions', async () => {
      const session = await newSession();
      await sessions.appendEvent({ session, event: userSays('before', { id: 'e-0' }) });
      const results = await dataSource.transaction(async (transaction) => {
        const append = (id: string) => sessions.append({ session, event: agentSays(id, { id }), transaction });
        return [
          ...(await Promise.all([append('e-1'), append('e-2')])),
          await append('e-1'),
          await append('e-0').catch((error: unknown) => error),
          await sessions.appendBatch({ session, events: [agentSays('e-3'), agentSays('e-4')], transaction }),
        ];
      });
      expect(results).toMatchObject([
        { event: { seq: 2 }, duplicate: false },
        { event: { seq: 3 }, duplicate: false },
        { event: { seq: 2 }, duplicate: true },
        { code: 'EVENT_CONFLICT' },
        { events: [{ seq: 4 }, { seq: 5 }] },
      ]);
      expect(session.version).toBe(5);
      expect(seqsOf(session)).toEqual([1, 2, 3, 4, 5]);
      expect(seqsOf(await load(session))).toEqual([1, 2, 3, 4, 5]);
      await sessions.whenIdle();
      expect(new Set(appended.map(({ seq }) => seq))).toEqual(new Set([1, 2, 3, 4, 5]));
    });

    it('answers a repetition at a full quota, and refuses what is new', async () => {
      const storage = new TypeOrmSessionStorage({ dataSource });
      const full = new SessionService({ storage, quotas: { process: { appendsPerMinute: 1 } } });
      const session = await full.createSession({ appName: 'shop', userId: 'ann' });
      const event = userSays('once', { id: 'e-1' });
      await dataSource.transaction(async (transaction) => {
        const append = (one: EventInput) => full.append({ session, event: one, transaction });
        expect(await append(event)).toMatchObject({ event: { seq: 1 }, duplicate: false });
        expect(await append(event)).toMatchObject({ event: { seq: 1 }, duplicate: true });
        const fresh = userSays('again', { id: 'e-2' });
        await expect(append(fresh)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
      });
      expect(seqsOf(session)).toEqual([1]);
      expect(seqsOf(await load(session))).toEqual([1]);
      await full.close();
    });

    it('continues after a refused append, with all checks of other appends', async () => {
      const session = await newSession();
      await sessions.appendEvent({ session, event: userSays('one', { id: 'e-1' }) });
      const turn = await sessions.beginTurn(keyOf(session));
      await sessions.endTurn(turn);
      const codes = await dataSource.transaction(async (transaction) => {
        await order(transaction, 3);
        const event = agentSays('late');
        const refused = [
          sessions.appendEvent({ session, event, expectedVersion: 0, transaction }),
          sessions.appendEvent({ session, event, turn, transaction }),
          sessions.appendEvent({ session: { ...referenceOf(session), id: 'nowhere' }, event, transaction }),
          sessions.appendEvent({ session, event: { author: 'agent', customMetadata: { nope: 1n } }, transaction }),
          sessions.appendEvents({ session, events: Array.from({ length: 101 }, () => event), transaction }),
          sessions.appendEvent({
            session,
            event: { author: 'system', actions: { rewind: { toSeq: 0 } } },
            transaction,
          }),
        ];
        const reasons = await Promise.all(refused.map((append) => append.catch((error: unknown) => error)));
        return reasons.map((error) => (error as { code: string }).code);
      });
      expect(codes).toEqual([
        'STALE_SESSION',
        'TURN_LOST',
        'SESSION_NOT_FOUND',
        'INVALID_INPUT',
        'LIMIT_EXCEEDED',
        'INVALID_INPUT',
      ]);
      expect(await ordersOf(3)).toBe(1);
      expect(await load(session)).toMatchObject({ version: 1 });
    });

    it('keeps nothing of an append that failed in the middle', async () => {
      for (const statement of BREAK[name] ?? []) await dataSource.query(statement);
      const session = await newSession();
      await dataSource.transaction(async (transaction) => {
        await order(transaction, 7);
        const event = userSays('half', { actions: { stateDelta: { broken: 1 } } });
        const failing = sessions.appendEvent({ session, event, transaction });
        await expect(failing).rejects.toBeInstanceOf(QueryFailedError);
        await sessions.appendEvent({ session, event: userSays('whole'), transaction });
      });
      expect(await ordersOf(7)).toBe(1);
      expect((await load(session)).events).toMatchObject([{ seq: 1, content: { parts: [{ text: 'whole' }] } }]);
    });

    it('needs no connection besides its own', async () => {
      const fast = await database.connect('fast');
      const over = service(fast);
      // Opens the store.
      const session = await over.createSession({ appName: 'other', userId: 'ann', state: { step: 1 } });
      const event = userSays('one', { actions: { stateDelta: { 'user:a': 1, 'app:b': 2 } } });
      await fast.transaction(async (transaction) => {
        await order(transaction, 8);
        await over.appendEvent({ session, event, transaction });
      });
      expect(session.version).toBe(1);
      expect(fast.subscribers).toHaveLength(1);
      await over.close();
      expect(fast.subscribers).toEqual([]);
      expect((await load(session)).state.toRecord()).toEqual({ step: 1, 'user:a': 1, 'app:b': 2 });
    });

    it('drops events of an inner transaction that was rolled back', async () => {
      const session = await newSession();
      await dataSource.transaction(async (transaction) => {
        await sessions.appendEvent({ session, event: userSays('one'), transaction });
        const inner = transaction.transaction(async (nested) => {
          await sessions.appendEvent({ session, event: agentSays('two'), transaction: nested });
          throw new Error('back');
        });
        await expect(inner).rejects.toThrow('back');
        expect(session.version).toBe(0);
        await sessions.appendEvent({ session, event: agentSays('three'), transaction });
      });
      expect(session.events.map(({ content }) => content?.parts?.[0]?.text)).toEqual(['one', 'three']);
      expect(session.version).toBe(2);
      await sessions.whenIdle();
      expect(appended.map(({ seq }) => seq)).toEqual([1, 2]);
    });

    it('ends after appends that were not awaited', async () => {
      const session = await newSession();
      let appending: Promise<unknown> | undefined;
      await dataSource.transaction(async (transaction) => {
        await order(transaction, 4);
        appending = sessions.appendEvent({ session, event: userSays('one'), transaction });
        // Its way to the connection.
        await new Promise((resolve) => setImmediate(resolve));
      });
      await appending;
      expect(await load(session)).toMatchObject({ version: 1 });
      expect(session.version).toBe(1);
    });

    it('lets other writers of the session wait', async () => {
      const session = await newSession();
      let outside: Promise<LoggedEvent> | undefined;
      let isDone = false;
      await dataSource.transaction(async (transaction) => {
        await sessions.appendEvent({ session, event: userSays('inside'), transaction });
        const reference = referenceOf(session);
        outside = sessions.appendEvent({ session: reference, event: userSays('outside') });
        void outside.then(() => (isDone = true));
        for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
        await order(transaction, 5);
        expect(isDone).toBe(false);
      });
      expect((await outside)?.seq).toBe(2);
      expect(seqsOf(await load(session))).toEqual([1, 2]);
    });

    it('begins at any moment of an append that runs', async () => {
      const session = await newSession();
      const reference = referenceOf(session);
      for (let moment = 0; moment < 40; moment++) {
        const outside = sessions.appendEvent({ session: reference, event: userSays('outside') });
        for (let ticks = 0; ticks < moment * 2; ticks++) await Promise.resolve();
        const inside = dataSource.transaction(async (transaction) => {
          await order(transaction, 100);
          await sessions.appendEvent({ session: reference, event: userSays('inside'), transaction });
        });
        await Promise.all([inside, outside]);
      }
      expect(seqsOf(await load(session))).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
      expect(await ordersOf(100)).toBe(40);
    });

    it('is refused unless it is open, on the DataSource of the store', async () => {
      const session = await newSession();
      const event = userSays('never');
      const refusal = async (transaction: unknown) =>
        sessions.appendEvent({ session, event, transaction: transaction as EntityManager }).then(
          () => 'no refusal',
          ({ code, path, message }: InvalidInputError) => {
            expect([code, path]).toEqual(['INVALID_INPUT', 'transaction']);
            return message;
          },
        );
      for (const none of [null, {}, 'tx', dataSource, dataSource.manager]) {
        expect(await refusal(none)).toMatch(/the manager of an open transaction/);
      }
      let over: EntityManager | undefined;
      await dataSource.transaction(async (transaction) => void (over = transaction));
      expect(await refusal(over)).toMatch(/the manager of an open transaction/);
      const elsewhere = await database.connect();
      await elsewhere.transaction(async (transaction) => {
        expect(await refusal(transaction)).toMatch(/another DataSource/);
      });
      expect(await load(session)).toMatchObject({ version: 0 });
    });

    it('tells of its events also if its connection fails after the commit', async () => {
      const session = await newSession();
      const failing: EntitySubscriberInterface = {
        afterTransactionCommit({ queryRunner }) {
          const { connect } = queryRunner;
          queryRunner.connect = async () => {
            queryRunner.connect = connect;
            throw new Error('gone');
          };
        },
      };
      dataSource.subscribers.unshift(failing);
      try {
        await dataSource.transaction((transaction) =>
          sessions.appendEvent({ session, event: userSays('one'), transaction }),
        );
      } finally {
        dataSource.subscribers.splice(dataSource.subscribers.indexOf(failing), 1);
      }
      await until(() => appended.length === 1);
      expect(session.version).toBe(1);
    });

    if (name === 'sqlite') return;

    it('throws a deadlock to the app as the error of the driver, without the event', async () => {
      const [a, b] = [await newSession(), await newSession()];
      const started = new Set<Session>();
      const appendTo = async (first: Session, then: Session): Promise<void> =>
        dataSource.transaction(async (transaction) => {
          await sessions.appendEvent({ session: first, event: userSays('secret'), transaction });
          started.add(first);
          await until(() => started.size === 2);
          await sessions.appendEvent({ session: then, event: userSays('secret'), transaction });
        });
      const outcomes = await Promise.allSettled([appendTo(a, b), appendTo(b, a)]);
      const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
      expect(reasons).toEqual([expect.any(QueryFailedError)]);
      expect((reasons[0] as { code: string }).code).toBe(name === 'postgres' ? '40P01' : 'ER_LOCK_DEADLOCK');
      expect(inspect(reasons[0], { depth: 9 })).not.toContain('secret');
      const [again, other] = outcomes[0].status === 'rejected' ? [a, b] : [b, a];
      await appendTo(again, other);
      expect([a.version, b.version]).toEqual([2, 2]);
      expect(seqsOf(await load(a))).toEqual([1, 2]);
      expect(seqsOf(await load(b))).toEqual([1, 2]);
    });

    async function isWaiting(): Promise<boolean> {
      const waits =
        name === 'postgres'
          ? "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
          : `SELECT 1 FROM information_schema.GLOBAL_STATUS
              WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS' AND variable_value > 0`;
      return (await database.committed(waits)).length > 0;
    }

    it('waits for another transaction that writes the first state of the same user', async () => {
      const [userId, event] = ['new', agentSays('set', { actions: { stateDelta: { 'user:a': 1 } } })];
      const one = await sessions.createSession({ appName: 'shop', userId });
      const two = await sessions.createSession({ appName: 'shop', userId });
      let second: Promise<unknown> | undefined;
      await dataSource.transaction('READ COMMITTED', async (transaction) => {
        await sessions.appendEvent({ session: one, event, transaction });
        let isSent = false;
        second = dataSource.transaction('READ COMMITTED', async (other) => {
          await order(other, 6);
          isSent = true;
          await sessions.appendEvent({ session: two, event, transaction: other });
        });
        await until(async () => isSent && (await isWaiting()));
      });
      await second;
      expect([one.version, two.version, await ordersOf(6)]).toEqual([1, 1, 1]);
    });

    it.each(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const)(
      'gives right numbers or a serialisation failure, and recognises events, after reading under %s',
      async (isolation) => {
        const session = await newSession();
        const reference = referenceOf(session);
        let tries = 0;
        const inside = async (): Promise<unknown[]> =>
          dataSource.transaction(isolation, async (transaction) => {
            await transaction.query('SELECT COUNT(*) FROM orders');
            tries += 1;
            if (tries === 1) {
              for (const id of ['e-1', 'e-2']) {
                await sessions.appendEvent({ session: reference, event: userSays('out', { id }) });
              }
            }
            const append = (id: string, expectedVersion?: number) =>
              sessions.append({ session, event: userSays('out', { id }), expectedVersion, transaction });
            return [await append('e-2'), await append('e-1', 0), await append('e-3', 2)];
          });
        const results = await inside().catch((error: unknown) => {
          expect([isolation, name]).not.toContain('READ COMMITTED');
          expect(name).toBe('postgres');
          expect(error).toMatchObject({ name: 'QueryFailedError', code: '40001' });
          return inside();
        });
        expect(results).toMatchObject([
          { event: { seq: 2 }, duplicate: true },
          { event: { seq: 1 }, duplicate: true },
          { event: { seq: 3 }, duplicate: false },
        ]);
        expect(seqsOf(await load(session))).toEqual([1, 2, 3]);
        expect(session.version).toBe(3);
      },
    );

    if (name !== 'postgres') return;

    it('fails with a serialisation failure if its snapshot does not show the user state that another one began', async () => {
      const [one, two] = [await newSession(), await newSession()];
      const user = (session: Session) => ({ ...referenceOf(session), userId: one.userId });
      await sessions.createSession({ ...keyOf(two), userId: one.userId });
      const event = { author: 'user', actions: { stateDelta: { 'user:k': 1 } } };
      let hasBegun = false;
      const append = (): Promise<unknown> =>
        dataSource.transaction('REPEATABLE READ', async (transaction) => {
          await transaction.query('SELECT COUNT(*) FROM orders');
          if (!hasBegun) await sessions.appendEvent({ session: user(two), event });
          hasBegun = true;
          return sessions.appendEvent({ session: one, event, transaction });
        });
      await expect(append()).rejects.toMatchObject({ name: 'QueryFailedError', code: '40001' });
      await append();
      expect(one.version).toBe(1);
    });

    it('is not believed to be committed if the database rolled it back', async () => {
      const session = await newSession();
      await dataSource.transaction(async (transaction) => {
        await sessions.appendEvent({ session, event: userSays('one'), transaction });
        await transaction.query('SELECT 1 / 0').catch(() => undefined);
        const late = sessions.appendEvent({ session, event: userSays('two'), transaction });
        await expect(late).rejects.toMatchObject({ code: '25P02' });
      });
      await sessions.whenIdle();
      expect([session.version, appended, await storedEvents(session)]).toEqual([0, [], []]);
    });
  });
}
