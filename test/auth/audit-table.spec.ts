import { Logger } from '@nestjs/common';
import { InMemorySessionStorage } from '../../src/index.js';
import {
  type AccessRequest,
  type AuditOptions,
  type AuditRecord,
  SessionAccess,
  SessionAccessModule,
  readAudit,
} from '../../src/sessions/rest/index.js';
import { AuditTrail } from '../../src/sessions/transport/audit/audit-trail.js';
import { keepAudit } from '../../src/sessions/transport/audit/audit-table.js';
import { ManualClock } from '../../src/testing/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { cli } from '../cli/terminal.js';
import { RestApp } from '../rest/rest-app.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { testStores } from '../support/stores.js';
import { until } from '../support/until.js';

const SESSIONS = '/apps/shop/users/ann/sessions';
const DAY_MS = 86_400_000;
const CANARY = 'canary-81bd';

/** Everybody may do everything with what is theirs. */
class OwnData extends SessionAccess {
  override userOf = (request: unknown): unknown => ({
    id: (request as { readonly headers: Readonly<Record<string, string>> }).headers['x-user'],
  });

  allows({ user, userId }: AccessRequest): boolean {
    return user.id === userId;
  }

  override allowsWrite(): boolean {
    return true;
  }
}

const recordOf = (at: number, more: Partial<AuditRecord> = {}): AuditRecord => ({
  at,
  outcome: 'allowed',
  action: 'read',
  target: 'session',
  appName: 'shop',
  userId: 'ann',
  ...more,
});

async function readAll(...given: Parameters<typeof readAudit>): Promise<AuditRecord[]> {
  const records = [];
  for await (const record of readAudit(...given)) records.push(record);
  return records;
}

describe.each(testStores)('The audit in a $name store', ({ open }) => {
  let store: OpenStorage;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = new ManualClock();
    store = await open({ clock });
  });

  afterEach(() => store.destroy());

  it('has a record of each request of an app, which is read by app, user and time', async () => {
    const audit = { sink: 'table' } as const;
    const app = await RestApp.start('Express', {
      access: OwnData,
      audit,
      sessions: { provider: undefined, storage: store.storage },
    });
    const send = (method: string, user: string, path: string): Promise<{ readonly status: number }> =>
      app.request(method, path, undefined, { 'x-user': user });
    expect((await send('POST', 'ann', `${SESSIONS}/s-1`)).status).toBe(201);
    const event = { author: 'user', content: { role: 'user', parts: [{ text: CANARY }] } };
    await app.request('POST', `${SESSIONS}/s-1/events`, event, { 'x-user': 'ann' });
    expect((await send('DELETE', 'bob', `${SESSIONS}/s-1`)).status).toBe(204);
    await send('POST', 'bob', '/apps/shop/users/bob/sessions/s-2');
    await send('POST', 'bob', '/apps/shop/users/bob/sessions/s-2');
    await send('POST', 'eve', `/apps/${'x'.repeat(300)}/users/bob/sessions/s-2`);
    await app.close();

    const records = await readAll(store.storage, { appName: 'shop' });
    expect(records.map(({ operation, outcome, by, userId }) => [operation, outcome, by?.id, userId])).toEqual([
      ['createSessionWithId', 'done', 'ann', 'ann'],
      ['appendEvent', 'done', 'ann', 'ann'],
      ['deleteSession', 'refused', 'bob', 'ann'],
      ['createSessionWithId', 'done', 'bob', 'bob'],
      ['createSessionWithId', 'failed', 'bob', 'bob'],
    ]);
    expect(JSON.stringify(records)).not.toContain(CANARY);
    expect(await readAll(store.storage, { appName: 'shop', userId: 'ann' })).toEqual(records.slice(0, 3));
    expect(await readAll(store.storage, { appName: 'shop', userId: 'bob' })).toEqual(records.slice(2));
    const since = records.at(-1)?.at ?? 0;
    const late = records.filter(({ at }) => at >= since);
    expect(await readAll(store.storage, { appName: 'shop', since })).toEqual(late);
  });

  it('is whole and in order however many records there are, and expires', async () => {
    const now = clock.now();
    const many = Array.from({ length: 1_203 }, (_, index) => recordOf(now + Math.floor(index / 7)));
    await keepAudit(store.storage, many, 30);
    await keepAudit(store.storage, [recordOf(now - 5), recordOf(now, { appName: 'other' })], 60);
    expect(await readAll(store.storage, { appName: 'shop' })).toEqual([recordOf(now - 5), ...many]);
    expect(await readAll(store.storage, { appName: 'other' })).toHaveLength(1);
    clock.advance(31 * DAY_MS);
    expect(await readAll(store.storage, { appName: 'shop' })).toEqual([recordOf(now - 5)]);
  });
});

describe('An audit in a table', () => {
  it('that cannot be written is counted and said, or refuses the request', async () => {
    const said = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const storage = new InMemorySessionStorage();
    const write = jest.spyOn(storage.entries, 'write').mockRejectedValue(new Error('away'));
    const start = (audit: AuditOptions): Promise<RestApp> =>
      RestApp.start('Express', {
        access: OwnData,
        audit,
        sessions: { provider: undefined, storage },
        isAccessGlobal: true,
      });
    const lenient = await start({ sink: 'table' });
    const user = { 'x-user': 'ann' };
    expect((await lenient.request('GET', SESSIONS, undefined, user)).status).toBe(200);
    await until(() => said.mock.calls.length > 0);
    await lenient.close();
    expect(said.mock.calls).toEqual([[expect.stringContaining('(1 so far): away')]]);
    const strict = await start({ sink: 'table', onFailure: 'refuse' });
    expect((await strict.request('GET', SESSIONS, undefined, user)).status).toBe(503);
    write.mockRestore();
    expect((await strict.request('GET', SESSIONS, undefined, user)).status).toBe(200);
    await strict.close();
    const records = await readAll(storage, { appName: 'shop' });
    expect(records.map(({ outcome }) => outcome)).toEqual(['allowed', 'done']);
    said.mockRestore();
  });

  it('needs sessions at the start, and days that have an effect', () => {
    expect(() => new AuditTrail({ sink: 'table' }).onApplicationBootstrap()).toThrow(/import SessionsModule/);
    for (const audit of [
      { sink: 'log', keepDays: 3 },
      { sink: 'table', keepDays: 0 },
    ] as const)
      expect(() => SessionAccessModule.forRoot({ access: OwnData, audit })).toThrow(/keepDays/);
  });

  it('is shown by the command line', async () => {
    const file = new SqliteFile();
    const at = Date.parse('2027-01-31T12:00:00Z');
    const refused = { outcome: 'refused', code: 'FORBIDDEN', by: { id: 'bob' }, operation: 'getSession' } as const;
    await keepAudit(await file.storage(), [recordOf(at - DAY_MS), recordOf(at, refused)]);
    const run = (...more: string[]): ReturnType<typeof cli> =>
      cli(['audit', 'shop', '--url', `sqlite:${file.path}`, ...more], { env: {} });
    expect((await run()).out.trim().split('\n')).toHaveLength(2);
    expect((await run('--since', '2027-01-31')).out).toMatch(
      /bob {2}getSession \(read session\) {2}shop \/ ann {2}refused FORBIDDEN\n$/,
    );
    expect(JSON.parse((await run('--user', 'bob', '--json')).out)).toEqual(recordOf(at, refused));
    expect(await run('--since', 'yesterday')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--since') as string,
    });
    await file.remove();
  });
});
