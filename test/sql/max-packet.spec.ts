import { LimitExceededError } from '../../src/index.js';
import { describeSqlServers } from '../support/sql-bench.js';
import { numberFrom } from '../support/sql-transactions.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
/** Messages of 16 MiB take their time on a busy machine. */
const timeLimitMs = 60_000;
const SESSION = { appName: 'shop', userId: 'ann', id: 's-1' };

describeSqlServers(
  'A $name server with a small max_allowed_packet',
  (bench) => {
    it('refuses a larger event once, and recovers', async () => {
      const raw = await bench().connect();
      const most = await numberFrom(raw, 'SELECT @@max_allowed_packet AS number');
      const sessions = bench().sessions({ timeLimitMs, service: { limits: { maxEventBytes: 2 * most } } });
      await sessions.createSession(KEY);
      const event = { id: 'e-1', author: 'user', content: { role: 'user', parts: [{ text: 'x'.repeat(most) }] } };
      const error: unknown = await sessions.append({ session: SESSION, event }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(LimitExceededError);
      expect((error as Error).message).toContain('max_allowed_packet');
      expect(await sessions.append({ session: SESSION, event: { author: 'user', id: 'e-2' } })).toMatchObject({
        event: { seq: 1 },
      });
    });

    it('stores a larger fork in batches', async () => {
      const raw = await bench().connect();
      const most = await numberFrom(raw, 'SELECT @@max_allowed_packet AS number');
      const text = 'x'.repeat(900_000);
      const sessions = bench().sessions({ timeLimitMs, service: { limits: { maxViewBytes: 2 * most } } });
      await sessions.createSession(KEY);
      const count = Math.ceil(most / text.length) + 1;
      for (let number = 1; number <= count; number++) {
        await sessions.append({
          session: SESSION,
          event: { author: 'user', content: { role: 'user', parts: [{ text }] } },
        });
      }
      const fork = await sessions.forkSession({ ...KEY, newSessionId: 's-2' });
      expect(fork.events).toHaveLength(count);
      await bench().checkIntegrity();
    });
  },
  ['mariadb'],
);
