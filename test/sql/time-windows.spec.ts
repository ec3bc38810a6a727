import type { EventWindow } from '../../src/storage.js';
import { fillSqlLog } from '../support/filled-sql.js';
import { describeSqlServers } from '../support/sql-bench.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const LENGTH = 37;
/** Several events have the same time. */
const timeOf = (seq: number): number => 1_000 + 10 * Math.floor(seq / 3);

describeSqlServers('Time windows of a log in $name', (bench) => {
  it('begin with the first event that reaches the time, wherever it is, also by the clock of the server', async () => {
    const storage = bench().storage();
    await bench().sessions().createSession(KEY);
    const raw = await bench().connect();
    const read = async (window: EventWindow): Promise<number[]> =>
      (await storage.read({ key: KEY, window }))?.events.map(({ seq }) => seq) ?? [];
    expect(await read({ since: 1 })).toEqual([]);
    await fillSqlLog(raw, LENGTH, () => ({ author: 'user' }));
    await raw.query('UPDATE agent_session_events SET high_water = 1000 + 10 * FLOOR(seq / 3)');
    const seqs = Array.from({ length: LENGTH }, (_, index) => index + 1);
    for (let since = 995; since <= timeOf(LENGTH) + 5; since += 5) {
      const expected = seqs.filter((seq) => timeOf(seq) >= since);
      expect(await read({ since })).toEqual(expected);
      expect(await read({ since, limit: 2, keep: 'oldest' })).toEqual(expected.slice(0, 2));
    }
    await raw.query(`UPDATE agent_session_events SET high_water = ${Date.now()} WHERE seq > 20`);
    const ofThisHour = seqs.filter((seq) => seq > 20);
    expect(await read({ maxAgeMs: 3_600_000 })).toEqual(ofThisHour);
    expect(await read({ maxAgeMs: 3_600_000, since: 1_020 })).toEqual(ofThisHour);
    expect(await read({ maxAgeMs: Date.now(), since: 1_020 })).toEqual(seqs.filter((seq) => timeOf(seq) >= 1_020));
  });
});
