import { TaskState } from '@a2a-js/sdk';
import type { OpenStores } from './stores.js';
import { artifact, callOf, idsOf, listOf, message, statusOf, taskOf } from './tasks.js';

const { TASK_STATE_COMPLETED, TASK_STATE_WORKING, UNRECOGNIZED } = TaskState;

/** Lists: filters, order, pages. */
export function defineListing(open: OpenStores): void {
  const call = callOf();

  it('lists the newest status first, and equal ones by id', async () => {
    const { tasks } = open();
    for (const [id, second] of [
      ['b', 1],
      ['a', 1],
      ['c', 3],
      ['d', 2],
    ] as const)
      await tasks.save(taskOf(id, { status: statusOf(TASK_STATE_WORKING, at(second)) }), call);
    await tasks.save(taskOf('none', { status: undefined }), call);
    expect(idsOf((await tasks.list(listOf(), call)).tasks)).toEqual(['c', 'd', 'b', 'a', 'none']);
    const moved = await tasks.load('a', call);
    if (moved) await tasks.save({ ...moved, status: statusOf(TASK_STATE_COMPLETED, at(4)) }, call);
    expect(idsOf((await tasks.list(listOf(), call)).tasks)).toEqual(['a', 'c', 'd', 'b', 'none']);
  });

  it('pages through all tasks once, with their number', async () => {
    const { tasks } = open();
    for (let index = 0; index < 7; index++)
      await tasks.save(taskOf(`t|${index}`, { status: statusOf(TASK_STATE_WORKING, at(index)) }), call);
    const ids: string[] = [];
    let pageToken = '';
    do {
      const page = await tasks.list(listOf({ pageSize: 3, pageToken }), call);
      expect(page).toMatchObject({ pageSize: 3, totalSize: 7 });
      ids.push(...idsOf(page.tasks));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(ids).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `t|${index}`));
    expect((await tasks.list(listOf(), call)).pageSize).toBe(50);
    await expect(tasks.list(listOf({ pageToken: '!!' }), call)).rejects.toMatchObject({
      name: 'RequestMalformedError',
    });
  });

  it('filters by context, state and time', async () => {
    const { tasks } = open();
    const long = `${'c'.repeat(300)}\u0000`;
    await tasks.save(taskOf('t1', { contextId: 'c1', status: statusOf(TASK_STATE_WORKING, at(1)) }), call);
    await tasks.save(taskOf('t2', { contextId: 'c2', status: statusOf(TASK_STATE_COMPLETED, at(2)) }), call);
    await tasks.save(taskOf('t3', { contextId: long, status: statusOf(TASK_STATE_COMPLETED, at(3)) }), call);
    const found = async (fields: Parameters<typeof listOf>[0]): Promise<string[]> =>
      idsOf((await tasks.list(listOf(fields), call)).tasks);
    expect(await found({ contextId: 'c2' })).toEqual(['t2']);
    expect(await found({ contextId: long })).toEqual(['t3']);
    expect(await found({ contextId: 'unknown' })).toEqual([]);
    expect(await found({ status: TASK_STATE_COMPLETED })).toEqual(['t3', 't2']);
    expect(await found({ status: TASK_STATE_COMPLETED, contextId: 'c1' })).toEqual([]);
    expect(await found({ status: UNRECOGNIZED })).toEqual([]);
    expect(await found({ statusTimestampAfter: at(1) })).toEqual(['t3', 't2']);
    expect(await found({ statusTimestampAfter: '2025-12-31T23:00:00-05:00' })).toEqual([]);
  });

  it('shows history, and artifacts only if they are wanted', async () => {
    const { tasks } = open();
    const task = taskOf('t1', { history: [message('m1')], artifacts: [artifact('a', 'text')] });
    await tasks.save(task, call);
    expect((await tasks.list(listOf(), call)).tasks).toEqual([{ ...task, artifacts: [] }]);
    expect((await tasks.list(listOf({ includeArtifacts: true }), call)).tasks).toEqual([task]);
  });

  it('lists no session that holds no task', async () => {
    const { tasks, sessions, appName } = open();
    await sessions.createSession({ appName, userId: 'ann', sessionId: 'chat' });
    expect(await tasks.list(listOf(), call)).toMatchObject({ tasks: [], totalSize: 0 });
    expect(await tasks.load('chat', call)).toBeUndefined();
  });
}

function at(second: number): string {
  return `2026-01-01T00:00:0${second}.000Z`;
}
