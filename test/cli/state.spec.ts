import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionService } from '../../src/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { cli } from './terminal.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
/** More than the default limits. */
const limits = { maxEventBytes: 9_000_000, maxSessionStateBytes: 9_000_000, maxUserStateBytes: 9_000_000 };

describe('agent-sessions state', () => {
  let folder: string;
  let url: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-'));
    const database = join(folder, 'sessions.db');
    url = `sqlite:${database}`;
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ database }), limits });
    const state = { small: 1, large: 'x'.repeat(5_000_000), 'user:b': 'x'.repeat(2_000_000), 'user:a': 2 };
    await sessions.createSession({ ...KEY, state });
    await sessions.close();
  });
  afterAll(() => rm(folder, { recursive: true }));

  const run = (...args: string[]) => cli([...args, '--url', url]);

  it('lists keys by size where reads refuse, and removes them', async () => {
    expect(await run('show', 'shop', 'ann', 's-1')).toMatchObject({ code: 5 });
    const doctor = await run('verify');
    expect(doctor.code).toBe(1);
    expect(doctor.out.match(/STATE_TOO_LARGE .*: the state of the \w+/g)).toEqual([
      'STATE_TOO_LARGE  shop / ann / s-1: the state of the session',
      'STATE_TOO_LARGE  shop / ann: the state of the user',
    ]);
    const listed = await run('state', 'shop', 'ann', 's-1');
    expect(
      listed.out
        .trim()
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(['5000007  large', '6  small']);
    expect(listed.err).toContain('5000013 bytes in 2 keys');
    const removed = await run('state', 'shop', 'ann', 's-1', '--remove', 'large', '--json');
    expect(JSON.parse(removed.out)).toEqual({ key: 'small', bytes: 6 });
    expect((await run('state', 'shop', 'ann', '--remove', 'user:b')).err).toContain('2 bytes in 1 keys');
    expect(await run('show', 'shop', 'ann', 's-1')).toMatchObject({ code: 0 });
    expect(await run('verify')).toMatchObject({ code: 0 });
  });

  it('says what it cannot do', async () => {
    expect(await run('state', 'shop', 'ann', 'none')).toMatchObject({ code: 4 });
    expect((await run('state', 'shop', 'ann', 's-1', '--remove', 'user:b')).err).toContain('is no key of the session');
    for (const owner of [['shop', 'ann', 's-1'], ['shop', 'ann'], ['shop']]) {
      const { code, err } = await run('state', ...owner, '--remove', 'misspelled');
      expect([code, err]).toEqual([2, expect.stringContaining('there is no key misspelled; nothing was removed')]);
    }
    expect((await run('state', 'shop')).err).toContain('0 bytes in 0 keys');
  });
});
