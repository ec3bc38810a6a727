import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import type { OpenStores } from './stores.js';
import { callOf } from './tasks.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function config(fields: Partial<TaskPushNotificationConfig> = {}): TaskPushNotificationConfig {
  const authentication = { scheme: 'Bearer', credentials: 'secret' };
  return { tenant: '', taskId: 't1', id: 'c1', url: 'https://x.test/hook', token: 'secret', authentication, ...fields };
}

/** Where clients want to be told about their tasks. */
export function definePushNotifications(open: OpenStores): void {
  const call = callOf({ version: '1.0' });

  it('keeps configurations, and replaces the one with the same id', async () => {
    const { push } = open();
    expect(await push.load('t1', call)).toEqual([]);
    await push.save('t1', call, config());
    await push.save('t1', call, config({ id: 'c2' }));
    await push.save('t1', call, config({ url: 'https://x.test/changed' }));
    expect(await push.load('t1', call)).toEqual([config({ id: 'c2' }), config({ url: 'https://x.test/changed' })]);
    await push.delete('t1', call, 'c2');
    await push.delete('t1', call, 'unknown');
    expect((await push.load('t1', call)).map(({ id }) => id)).toEqual(['c1']);
    await push.save('t1', call, config({ id: 't1' }));
    await push.delete('t1', call);
    await push.delete('t1', call, 'c1');
    expect(await push.load('t1', call)).toEqual([]);
  });

  it('gives an id to each one without', async () => {
    const { push } = open();
    const [first, second] = [config({ id: '' }), config({ id: '' })];
    await push.save('t1', call, first);
    await push.save('t1', call, second);
    expect(first.id).toMatch(UUID);
    expect(second.id).not.toBe(first.id);
    first.url = 'https://changed.test';
    expect(await push.load('t1', call)).toEqual([{ ...first, url: 'https://x.test/hook' }, second]);
  });

  it('remembers the version of the protocol of each', async () => {
    const { push } = open();
    await push.save('t1', call, config());
    await push.save('t1', callOf(), config({ id: 'old' }));
    await push.save('t1', callOf({ version: '' }), config({ id: 'none' }));
    const stored = await push.loadWithMetadata('t1', call);
    expect(stored.map(({ config: { id }, wireVersion }) => [id, wireVersion])).toEqual([
      ['c1', '1.0'],
      ['old', '0.3'],
      ['none', '0.3'],
    ]);
  });

  it.each([
    ['tenants', callOf({ tenant: 'a' }), callOf({ tenant: 'b' })],
    ['users', callOf({ user: 'alice' }), callOf({ user: 'bob' })],
  ])('keeps %s apart', async (_who, first, second) => {
    const { push } = open();
    await push.save('t1', first, config());
    expect(await push.load('t1', second)).toEqual([]);
    await push.delete('t1', second, 'c1');
    expect(await push.load('t1', first)).toHaveLength(1);
  });

  it('loses none of configurations that are saved at the same time, and shows none in the session', async () => {
    const { push, tasks, sessions, appName } = open();
    await Promise.all(['a', 'b', 'c', 'd'].map((id) => push.save('t1', call, config({ id }))));
    expect((await push.load('t1', call)).map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c', 'd']);
    expect(await tasks.load('t1', call)).toBeUndefined();
    expect(await sessions.getSession({ appName, userId: 'ann', sessionId: 't1' })).toBeUndefined();
  });
}
