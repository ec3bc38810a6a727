import { TaskState } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { OpenStores } from './stores.js';
import { callOf, idsOf, listOf, message, messageIds, statusOf, taskOf, textPart } from './tasks.js';

const userOrPublic = ({ user }: ServerCallContext): string => user?.userName ?? 'public';

/** Owners and tenants, and what comes back of a task. */
export function defineScoping(open: OpenStores): void {
  it.each([
    ['nobody in particular', callOf({ user: null })],
    ['a user', callOf({ user: 'alice' })],
    ['a tenant', callOf({ tenant: 'acme' })],
    ['a user of a tenant', callOf({ tenant: 'acme', user: 'alice' })],
  ])('gives back a task of %s', async (_who, call) => {
    const { tasks } = open({ userId: userOrPublic });
    expect(await tasks.load('t1', call)).toBeUndefined();
    const task = taskOf('t1', { history: [message('m1')] });
    await tasks.save(task, call);
    expect(await tasks.load('t1', call)).toEqual(task);
    expect(idsOf((await tasks.list(listOf(), call)).tasks)).toEqual(['t1']);
  });

  it.each([
    ['tenants', callOf({ tenant: 'a' }), callOf({ tenant: 'b' })],
    ['a tenant and none', callOf({ tenant: 'a' }), callOf()],
    ['users', callOf({ user: 'alice' }), callOf({ user: 'bob' })],
    ['a user and nobody', callOf({ user: 'alice' }), callOf({ user: null })],
    ['users of a tenant', callOf({ tenant: 'a', user: 'alice' }), callOf({ tenant: 'a', user: 'bob' })],
    ['tenants of a user', callOf({ tenant: 'a', user: 'alice' }), callOf({ tenant: 'b', user: 'alice' })],
  ])('keeps %s apart, with the same id of a task', async (_who, first, second) => {
    const { tasks } = open({ userId: userOrPublic });
    await tasks.save(taskOf('t1', { contextId: 'first' }), first);
    expect(await tasks.load('t1', second)).toBeUndefined();
    expect((await tasks.list(listOf(), second)).totalSize).toBe(0);
    await tasks.save(taskOf('t1', { contextId: 'second' }), second);
    expect((await tasks.load('t1', first))?.contextId).toBe('first');
    expect((await tasks.load('t1', second))?.contextId).toBe('second');
    expect((await tasks.list(listOf(), first)).tasks.map(({ contextId }) => contextId)).toEqual(['first']);
  });

  it('takes the owner from the app', async () => {
    const { tasks } = open({ userId: () => 'team' });
    await tasks.save(taskOf('t1'), callOf({ user: 'alice' }));
    expect(await tasks.load('t1', callOf({ user: 'bob' }))).toBeDefined();
  });

  it('finds nothing under ids that no session has, and refuses to save them', async () => {
    const { tasks } = open();
    for (const id of ['', ' ', 'x'.repeat(192), 'a\u0000b']) {
      expect(await tasks.load(id, callOf())).toBeUndefined();
      await expect(tasks.save(taskOf(id), callOf())).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
    const nowhere = callOf({ tenant: 'x'.repeat(192) });
    expect(await tasks.load('t1', nowhere)).toBeUndefined();
    expect(await tasks.list(listOf(), nowhere)).toMatchObject({ tasks: [], totalSize: 0 });
  });

  it('shares no object with its callers', async () => {
    const { tasks } = open();
    const call = callOf();
    const task = taskOf('t1', { metadata: { deep: { x: 1 } }, history: [message('m1')] });
    await tasks.save(task, call);
    task.metadata = { deep: { x: 2 } };
    task.history[0]?.parts.push(textPart('more'));
    const loaded = await tasks.load('t1', call);
    expect(loaded?.metadata).toEqual({ deep: { x: 1 } });
    expect(loaded?.history).toEqual([message('m1')]);
    loaded?.history.pop();
    expect(messageIds(await tasks.load('t1', call))).toEqual(['m1']);
  });

  it('keeps every kind of part and every field', async () => {
    const { tasks } = open();
    const call = callOf();
    const parts = [
      { ...textPart('hi'), metadata: { note: [1, null] }, mediaType: 'text/markdown' },
      { ...textPart(''), filename: 'empty.txt' },
      { ...textPart(''), content: { $case: 'raw' as const, value: Buffer.from([0, 255, 7]) }, mediaType: 'image/png' },
      { ...textPart(''), content: { $case: 'url' as const, value: 'https://x.test/a' }, filename: 'a' },
      { ...textPart(''), content: { $case: 'data' as const, value: { a: [1, { b: 'ü' }] } } },
      { ...textPart(''), content: { $case: 'data' as const, value: 'text' } },
      { ...textPart(''), content: undefined },
    ];
    const said = { ...message('m2'), parts, extensions: ['urn:x'], referenceTaskIds: ['t0'], metadata: { k: 'v' } };
    const task = taskOf('t1', {
      status: statusOf(TaskState.TASK_STATE_INPUT_REQUIRED, '2026-01-01T00:00:00.000Z', said),
      artifacts: [
        { artifactId: 'a', name: 'n', description: 'd', parts, metadata: { m: 1 }, extensions: ['urn:y'] },
        { artifactId: 'empty', name: '', description: '', parts: [], metadata: undefined, extensions: [] },
      ],
      history: [message('m1'), said],
      metadata: { ['__proto__']: 'own', 'user:x': 1 },
    });
    await tasks.save(task, call);
    expect(await tasks.load('t1', call)).toEqual(task);
    const withoutStatus = taskOf('t2', { status: undefined, metadata: undefined, contextId: '' });
    await tasks.save(withoutStatus, call);
    expect(await tasks.load('t2', call)).toEqual(withoutStatus);
  });

  it('keeps a long task, in several commits', async () => {
    const { tasks } = open();
    const call = callOf();
    const history = Array.from({ length: 130 }, (_, index) => message(`m${index}`));
    await tasks.save(taskOf('t1', { history }), call);
    expect((await tasks.load('t1', call))?.history).toEqual(history);
  });
}
