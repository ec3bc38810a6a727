import { type AccessRequest, type AuditRecord, SessionAccess } from '../../src/sessions/rest/index.js';
import { OWNER, WalkApp } from '../adapters/all/support/walk-app.js';
import { TASK, a2aMessage, callA2a, plantServers } from '../adapters/all/support/walk-calls.js';
import type { Headers } from '../adapters/all/support/walk-users.js';
import { until } from '../support/until.js';

const TO_NOBODY = 'forbidden';
const CANARY = 'canary-77e0';

/** Ann may do everything, but in one session. */
class OnlyAnn extends SessionAccess {
  override userOf = (request: unknown): unknown => ({
    id: (request as { readonly headers: Headers }).headers['x-user'],
  });

  allows({ user, sessionId }: AccessRequest): boolean {
    return user.id === 'ann' && sessionId !== TO_NOBODY;
  }

  override allowsWrite(): boolean {
    return true;
  }
}

const records: AuditRecord[] = [];
let app: WalkApp;
beforeAll(async () => {
  const audit = { sink: (some: readonly AuditRecord[]) => void records.push(...some) };
  app = await WalkApp.start('Express', {}, { access: new OnlyAnn(), audit });
  await plantServers(app);
});
afterAll(() => app.close());
beforeEach(() => {
  records.length = 0;
});

const byAdapters = (): AuditRecord[] => records.filter(({ operation }) => operation === undefined);

async function asked(count: number): Promise<unknown> {
  await until(() => byAdapters().length >= count);
  return byAdapters().map(({ action, target, outcome, code }) =>
    [action, target, outcome, code].filter(Boolean).join(' '),
  );
}

const call = async (method: string, params: object): Promise<string> => callA2a(app, method, params, OWNER);

describe('what an adapter asks by itself', () => {
  it('is noted with what came of it, for a call of A2A', async () => {
    await call('GetTask', { id: TASK });
    await call('GetTask', { id: 'none' });
    await call('GetTask', { id: TO_NOBODY });
    await call('SendMessage', { message: a2aMessage({ parts: [{ text: CANARY }] }) });
    await call('SendMessage', { message: a2aMessage({ taskId: '' }) });
    await call('CancelTask', { id: TASK });
    await call('ListTasks', {});
    expect(await asked(7)).toEqual([
      'read session done',
      'read session failed NOT_FOUND',
      'read session refused SESSION_NOT_FOUND',
      'write session done',
      'create sessions done',
      // It is over.
      'write session failed INVALID_INPUT',
      'list sessions done',
    ]);
    expect(JSON.stringify(records)).not.toContain(CANARY);
  });

  it('is `failed` for a message whose other tasks are refused', async () => {
    await call('SendMessage', { message: a2aMessage({ referenceTaskIds: [TO_NOBODY] }) });
    expect(await asked(2)).toEqual([
      'read session refused SESSION_NOT_FOUND',
      'write session failed SESSION_NOT_FOUND',
    ]);
  });

  it('is noted when a stream of A2A begins, and again if it fails to', async () => {
    await call('SendStreamingMessage', { message: a2aMessage({ taskId: '' }) });
    expect(await asked(1)).toEqual(['create sessions allowed']);
    records.length = 0;
    await call('SubscribeToTask', { id: 'none' });
    expect(await asked(2)).toEqual(['read session allowed', 'read session failed NOT_FOUND']);
    expect(records[0]?.callId).toMatch(/^[\w-]{12}$/);
    expect(records[1]?.callId).toBe(records[0]?.callId);
  });

  it('is noted when a chat begins, and again if it fails to', async () => {
    const chat = { id: 'chat', messages: [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: CANARY }] }] };
    await app.send('POST', '/chat', chat, OWNER);
    expect(await asked(2)).toEqual(['write session allowed', 'create sessions allowed']);
    records.length = 0;
    const other = { id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'something else' }] };
    await app.send('POST', '/chat', { ...chat, messages: [other] }, OWNER);
    expect(await asked(2)).toEqual(['write session allowed', 'write session failed EVENT_CONFLICT']);
    expect(JSON.stringify(records)).not.toContain(CANARY);
  });

  it('is noted with what came of a session that AG-UI creates', async () => {
    const run = { threadId: 'thread', runId: 'run', messages: [{ id: 'm', role: 'user', content: 'hi' }] };
    await app.send('POST', '/apps/shop/users/ann/ag-ui/run', run, OWNER);
    expect(await asked(1)).toEqual(['create sessions done']);
  });
});
