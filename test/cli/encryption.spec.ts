import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SessionService } from '../../src/index.js';
import { encryptedStorage } from '../../src/sessions/encryption/encrypted-storage.js';
import { KEY_A, KEY_B } from '../encryption/support.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { cli } from './terminal.js';

const USER = { appName: 'shop', userId: 'ann' };

describe('agent-sessions on an encrypted store', () => {
  let file: SqliteFile;

  beforeEach(async () => {
    file = new SqliteFile();
    const plain = await file.sessions();
    await plain.createSession({ ...USER, sessionId: 'old', state: { step: 1 } });
    const storage = encryptedStorage(await file.storage(), { keys: KEY_A });
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession({ ...USER, sessionId: 'new', metadata: { title: 'Shoes' } });
    for (const text of ['one', 'two']) {
      await sessions.appendEvent({ session, event: { author: 'user', content: { role: 'user', parts: [{ text }] } } });
    }
    await sessions.whenIdle();
  });

  afterEach(() => file.remove());

  function run(keys: string, ...args: string[]): ReturnType<typeof cli> {
    return cli([...args, '--url', `sqlite:${file.path}`, '--json'], { env: { SESSIONS_ENCRYPTION_KEYS: keys } });
  }

  it('counts what is encrypted, and what is older than that', async () => {
    const counted = await run(KEY_A, 'count-encrypted');
    expect(counted.err).toBe('');
    // Two events and a title; the state of the old session.
    expect(JSON.parse(counted.out)).toEqual({ sealed: 3, plain: 1 });
  });

  it('wraps the keys by a new one, after which the old one may go', async () => {
    expect((await run(KEY_B, 'show', 'shop', 'ann', 'new')).err).toContain('ENCRYPTION_KEY_');
    const rotated = await run(`${KEY_B},${KEY_A}`, 'rotate-keys');
    expect(JSON.parse(rotated.out)).toMatchObject({ rewrapped: 1, renewed: 0 });
    expect((await run(KEY_B, 'show', 'shop', 'ann', 'new')).out).toContain('two');
    expect(JSON.parse((await run(KEY_B, 'rotate-keys', '--renew')).out)).toMatchObject({ rewrapped: 0, renewed: 1 });
    expect((await run(KEY_B, 'show', 'shop', 'ann', 'new')).out).toContain('two');
  });

  it('says of how many sessions a policy knows nothing, since a key is missing', async () => {
    const policy = join(dirname(file.path), 'policy.json');
    await writeFile(policy, JSON.stringify({ rules: [{ keep: '2y' }, { kinds: ['messages'], keep: '2y' }] }));
    const known = await run(KEY_A, 'retention', policy, '--dry-run');
    expect([known.code, JSON.parse(known.out)]).toMatchObject([0, { unreadable: 0 }]);
    for (const args of [['--dry-run'], []]) {
      const { code, out, err } = await run(KEY_B, 'retention', policy, ...args);
      expect([code, JSON.parse(out)]).toMatchObject([1, { unreadable: 1 }]);
      expect(err).toMatch(/^cannot be read: The store holds .*\n$/);
    }
  });

  it('says what is missing without keys', async () => {
    const missing = await cli(['count-encrypted', '--url', `sqlite:${file.path}`], { env: {} });
    expect(missing.code).toBe(2);
    expect(missing.err).toContain('SESSIONS_ENCRYPTION_KEYS');
  });
});
