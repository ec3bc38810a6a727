import { userInfo } from 'node:os';
import { SessionService } from '../../src/index.js';
import { RedisSessionStorage } from '../../src/redis.js';
import { type AuditRecord, readAudit } from '../../src/sessions/rest/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { newPrefix, redisUrl, removeKeys } from '../support/redis-store.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { Redis } from 'ioredis';
import { sessionsOf, whileShown } from './shown-page.js';
import { type CliResult, cli } from './terminal.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const CANARY = 'canary-7e02';
const BY = { id: userInfo().username, from: 'cli' };
const TABLE = { AUDIT: 'table' };

async function recordsIn(storage: SessionStorage, appName?: string): Promise<AuditRecord[]> {
  const records = [];
  for await (const record of readAudit(storage, { appName })) records.push(record);
  return records;
}

async function withSession(storage: SessionStorage): Promise<void> {
  const sessions = new SessionService({ storage });
  const session = await sessions.createSession({ ...KEY, state: { [CANARY]: 1 } });
  await sessions.appendEvent({ session, event: { author: 'user', content: { parts: [{ text: CANARY }] } } });
}

describe('The audit of commands in Redis', () => {
  const prefix = newPrefix();
  const storage = new RedisSessionStorage({ url: redisUrl, prefix });
  afterAll(async () => {
    await storage.close();
    const node = new Redis(redisUrl);
    await removeKeys([node], prefix);
    await node.quit();
  });

  it('is in the table of the app', async () => {
    await storage.open();
    await withSession(storage);
    const args = ['erase-user', 'shop', 'ann', '--yes', 'ann', '--url', redisUrl, '--prefix', prefix];
    expect((await cli(args, { env: TABLE })).code).toBe(0);
    expect(await recordsIn(storage, 'shop')).toMatchObject([
      { outcome: 'allowed', operation: 'erase-user --yes', by: BY },
      { outcome: 'done', operation: 'erase-user --yes', by: BY },
    ]);
  });
});

describe('The audit of commands', () => {
  let file: SqliteFile;
  let storage: SessionStorage;
  beforeEach(async () => {
    file = new SqliteFile();
    storage = await file.storage();
    await withSession(storage);
  });
  afterEach(() => file.remove());

  const run = (args: string[], env: NodeJS.ProcessEnv = TABLE): Promise<CliResult> =>
    cli([...args, '--url', `sqlite:${file.path}`], { env });

  it('says who has done what to whom, and how it ended, without content', async () => {
    await run(['redact', 'shop', 'ann', 's', '99', '--reason', CANARY, '--state']);
    await run(['export', '--app', 'shop', '--user', 'ann', '--session', 's']);
    await run(['explain', 'shop', 'ann', 's', '--newest', '1']);
    await run(['state', 'shop', 'ann', 's', '--remove', CANARY]);
    await run(['show', 'shop', 'ann', 'none', '--no-events']);
    const records = await recordsIn(storage, 'shop');
    expect(records.map(({ outcome, code, operation, sessionId }) => [outcome, code, operation, sessionId])).toEqual([
      ['allowed', undefined, 'redact --reason --state', 's'],
      ['failed', 'INVALID_INPUT', 'redact --reason --state', 's'],
      ['allowed', undefined, 'export', 's'],
      ['done', undefined, 'export', 's'],
      ['allowed', undefined, 'explain --newest', 's'],
      ['done', undefined, 'explain --newest', 's'],
      ['allowed', undefined, 'state --remove', 's'],
      ['done', undefined, 'state --remove', 's'],
      ['allowed', undefined, 'show --no-events', 'none'],
      ['failed', 'SESSION_NOT_FOUND', 'show --no-events', 'none'],
    ]);
    expect(records[1]).toEqual({
      at: expect.any(Number),
      outcome: 'failed',
      code: 'INVALID_INPUT',
      callId: records[0]?.callId,
      operation: 'redact --reason --state',
      ...KEY,
      by: BY,
    });
    expect(JSON.stringify(records)).not.toContain(CANARY);
    expect((await run(['audit', 'shop'], {})).out).toContain(`  cli:${BY.id}  export  shop / ann / s  done\n`);
    expect(await run(['audit', 'bank'], {})).toMatchObject({ out: '', err: expect.stringContaining('no record') });
  });

  it('has commands about no app by themselves, and nothing of what never opens the store', async () => {
    await run(['verify']);
    await run(['erase-user', 'shop', 'ann', '--yes', 'bob']);
    await run(['api-key', 'agents', '--app', 'shop']);
    await run(['show', 'shop', 'ann', 's'], {});
    const records = await recordsIn(storage);
    expect(records.map(({ outcome, operation }) => [outcome, operation])).toEqual([
      ['allowed', 'verify'],
      ['done', 'verify'],
    ]);
    expect(await recordsIn(storage, 'shop')).toEqual([]);
  });

  it('is a line each on stderr with `log`', async () => {
    const { err, out } = await run(['show', 'shop', 'ann', 's', '--no-events'], { AUDIT: 'log' });
    const [begun, done] = err.trim().split('\n');
    expect(begun).toMatch(/^audit \{"at":\d+,"outcome":"allowed"/);
    expect(JSON.parse(done?.slice('audit '.length) ?? '')).toMatchObject({ outcome: 'done', by: BY });
    expect(out).not.toContain('audit');
    const json = await run(['list', '--json'], { AUDIT: 'log' });
    expect(JSON.parse(json.err.split('\n')[0] ?? '')).toMatchObject({ audit: { operation: 'list' } });
  });

  it('refuses variables that are wrong, as the app does', async () => {
    for (const env of [{ AUDIT: 'file' }, { AUDIT: 'table', AUDIT_KEEP: '3' }, { AUDIT_KEEP_DAYS: '3' }]) {
      expect(await run(['list'], env)).toMatchObject({ code: 2, err: expect.stringContaining('AUDIT') as string });
    }
  });

  it('keeps a command from beginning that cannot be noted', async () => {
    const tables = file.connection();
    tables.exec(`CREATE TRIGGER no_audit BEFORE INSERT ON agent_entries BEGIN SELECT RAISE(ABORT, 'no more'); END`);
    expect((await run(['erase-user', 'shop', 'ann', '--yes', 'ann'])).code).not.toBe(0);
    tables.exec('DROP TRIGGER no_audit');
    expect(await new SessionService({ storage }).getSession(KEY)).toBeDefined();
  });

  it('has what a page asks', async () => {
    const options = ['--url', `sqlite:${file.path}`, '--write'];
    await whileShown(
      options,
      async (page) => {
        expect((await fetch(`${sessionsOf(page)}/s`, { method: 'DELETE' })).status).toBe(204);
      },
      TABLE,
    );
    const asked = (await recordsIn(storage, 'shop')).filter(({ operation }) => operation === 'deleteSession');
    expect(asked).toMatchObject([
      { outcome: 'allowed', action: 'delete', ...KEY, by: BY },
      { outcome: 'done', action: 'delete', ...KEY, by: BY },
    ]);
    const commands = await recordsIn(storage);
    expect(commands).toMatchObject([
      { outcome: 'allowed', operation: 'inspect --write', by: BY },
      { outcome: 'done', operation: 'inspect --write', by: BY },
    ]);
  });
});
