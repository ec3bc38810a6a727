import { StoreUnavailableError } from '../../src/index.js';
import { postgresDialect } from '../../src/sessions/storage/typeorm/sql/dialect.js';
import { type PooledConnection, ServerTime } from '../../src/sessions/storage/typeorm/connect/connection-pool.js';
import { PooledTransactions } from '../../src/sessions/storage/typeorm/connect/pooled-transactions.js';
import { NO_SQL } from '../../src/sessions/storage/typeorm/sql/sql.js';
import type { Tables } from '../../src/sessions/storage/typeorm/tables.js';

const LIMIT_MS = 10_000;
const RETRIES = 5;

/** A pool whose connections always succeed. It counts how many were acquired. */
class IdlePool {
  acquired = 0;
  commit: PooledConnection['commit'] = async () => [];
  readonly time = new ServerTime();

  suspect(): void {}

  async acquire(): Promise<PooledConnection> {
    this.acquired += 1;
    return {
      silentSince: undefined,
      idleMs: 0,
      begin: () => undefined,
      flushBegin: async () => undefined,
      now: () => 0,
      rows: async () => [],
      lockedRows: async () => [],
      change: async () => 0,
      insert: async () => 0,
      changeAll: async () => undefined,
      commit: (message) => this.commit(message),
      canWriteDirectly: true,
      writeDirectly: async () => 'written',
      createDirectly: async () => undefined,
      rollback: async () => undefined,
      release: () => undefined,
      discard: () => undefined,
    };
  }
}

describe('PooledTransactions', () => {
  let pool: IdlePool;

  beforeEach(() => {
    pool = new IdlePool();
  });

  function transactions(timeLimitMs = LIMIT_MS): PooledTransactions {
    return new PooledTransactions(pool, {
      dialect: postgresDialect,
      tables: {} as Tables,
      sessionsKey: NO_SQL,
      timeLimitMs,
    });
  }

  it('acquires no connection if the time limit has already passed', async () => {
    const calledAt = performance.now() - LIMIT_MS;
    let hasRun = false;
    const late = transactions().write(async () => (hasRun = true), { calledAt });
    await expect(late).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: false });
    expect([pool.acquired, hasRun]).toEqual([0, false]);
  });

  it.each([
    '40P01',
    '40001',
    '55P03',
    'ER_LOCK_DEADLOCK',
    'ER_LOCK_WAIT_TIMEOUT',
    'ER_UNKNOWN_COM_ERROR',
    'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
    'ECONNRESET',
  ])(`retries ${RETRIES} times if each attempt fails with %s`, async (code) => {
    const failing = transactions().write(async () => {
      throw Object.assign(new Error('in the way'), { code });
    });
    const error: unknown = await failing.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ outcomeUnknown: false });
    expect(pool.acquired).toBe(1 + RETRIES);
  });

  it.each(['ER_ERROR_DURING_COMMIT', 'ECONNRESET'])(
    'does not know the outcome of a COMMIT that fails with %s',
    async (code) => {
      pool.commit = async () => {
        throw Object.assign(new Error('who knows'), { code });
      };
      const failing = transactions().write(async () => undefined);
      await expect(failing).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', outcomeUnknown: true });
      expect(pool.acquired).toBe(1);
    },
  );

  it('succeeds if the last retry succeeds', async () => {
    const tried = transactions().write(async () => {
      if (pool.acquired <= RETRIES) throw Object.assign(new Error('in the way'), { code: '40P01' });
      return pool.acquired;
    });
    expect(await tried).toBe(1 + RETRIES);
  });

  it('retries until the time limit if another transaction has inserted the same key', async () => {
    const tried = transactions().write(async () => {
      if (pool.acquired <= 2 * RETRIES) throw Object.assign(new Error('duplicate key'), { code: '23505' });
      return pool.acquired;
    });
    expect(await tried).toBe(1 + 2 * RETRIES);
    const failing = transactions(50).write(async () => {
      throw Object.assign(new Error('duplicate key'), { code: '23505' });
    });
    await expect(failing).rejects.toBeInstanceOf(StoreUnavailableError);
  });

  it('does not retry a single attempt or a permanent failure', async () => {
    for (const [code, isSingleAttempt] of [
      ['40P01', true],
      ['42P01', false],
    ] as const) {
      pool.acquired = 0;
      const failing = transactions().write(
        async () => {
          throw Object.assign(new Error('no'), { code });
        },
        { isSingleAttempt },
      );
      await expect(failing).rejects.toBeInstanceOf(StoreUnavailableError);
      expect(pool.acquired).toBe(1);
    }
  });
});
