import { Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, ResultManager } from '@a2a-js/sdk/server';
import type { OpenStores } from './stores.js';
import { artifact, artifactTexts, callOf, message, messageIds, statusOf, taskOf } from './tasks.js';

const { TASK_STATE_CANCELED, TASK_STATE_COMPLETED, TASK_STATE_WORKING } = TaskState;

/** What saves do with what is there: through the SDK's own ResultManager, and with tasks that are no longer current. */
export function defineMerging(open: OpenStores): void {
  const inTask = { taskId: 't1', contextId: 'c1', metadata: undefined };

  it('lets the result manager keep the history, overlay artifacts and merge metadata', async () => {
    const { tasks } = open();
    const manager = new ResultManager(tasks, callOf());
    manager.setContext(message('m1'));
    const first = { history: [message('a1', 'hi', Role.ROLE_AGENT)], artifacts: [artifact('x', '1'), artifact('y')] };
    await manager.processEvent(AgentEvent.task(taskOf('t1', { ...first, metadata: { a: 1, b: 1 } })));
    const second = { artifacts: [artifact('x', 'new'), artifact('z', '3')], metadata: { b: 2 } };
    await manager.processEvent(AgentEvent.task(taskOf('t1', second)));
    const loaded = await tasks.load('t1', callOf());
    expect(messageIds(loaded)).toEqual(['m1', 'a1']);
    expect(artifactTexts(loaded)).toEqual({ x: ['new'], y: [], z: ['3'] });
    expect(loaded?.metadata).toEqual({ a: 1, b: 2 });
    expect(manager.getCurrentTask()).toEqual(loaded);
  });

  it('appends chunks of artifacts, and messages of statuses', async () => {
    const { tasks, sessions, appName } = open();
    const manager = new ResultManager(tasks, callOf());
    await manager.processEvent(AgentEvent.task(taskOf('t1')));
    for (const [index, chunk] of ['one', 'two', 'three'].entries()) {
      const update = { ...inTask, artifact: artifact('x', chunk), append: index > 0, lastChunk: index === 2 };
      await manager.processEvent(AgentEvent.artifactUpdate(update));
    }
    const done = message('done', 'Done.', Role.ROLE_AGENT);
    const status = statusOf(TASK_STATE_COMPLETED, '2026-01-01T00:00:00.000Z', done);
    await manager.processEvent(AgentEvent.statusUpdate({ ...inTask, status }));
    const loaded = await tasks.load('t1', callOf());
    expect(artifactTexts(loaded)).toEqual({ x: ['one', 'two', 'three'] });
    expect(loaded?.status).toEqual(status);
    expect(loaded?.history).toEqual([done]);
    // Each step is one event, which holds what is new and nothing else.
    const { events } = await sessions.listEvents({ appName, userId: 'ann', sessionId: 't1' });
    expect(events.map(({ content }) => content?.parts?.map(({ text }) => text))).toEqual([
      undefined,
      ['one'],
      ['two'],
      ['three'],
      ['Done.'],
    ]);
  });

  it('loses nothing of result managers that work on one task at the same time', async () => {
    const { tasks } = open();
    await tasks.save(taskOf('t1'), callOf());
    const managers = Array.from({ length: 4 }, () => new ResultManager(tasks, callOf()));
    await Promise.all(
      managers.map(async (manager, index) => {
        manager.setContext(message(`m${index}`));
        await manager.processEvent(AgentEvent.task(taskOf('t1', { artifacts: [artifact(`a${index}`, 'x')] })));
        const said = message(`s${index}`, 'working', Role.ROLE_AGENT);
        await manager.processEvent(
          AgentEvent.statusUpdate({ ...inTask, status: statusOf(TASK_STATE_WORKING, undefined, said) }),
        );
      }),
    );
    const loaded = await tasks.load('t1', callOf());
    expect(messageIds(loaded).toSorted()).toEqual(['m0', 'm1', 'm2', 'm3', 's0', 's1', 's2', 's3']);
    expect(Object.keys(artifactTexts(loaded)).toSorted()).toEqual(['a0', 'a1', 'a2', 'a3']);
  });

  it('merges a task that is no longer current: of objects that were loaded', async () => {
    const { tasks } = open();
    await tasks.save(taskOf('t1', { history: [message('m0')], artifacts: [artifact('x', '0')] }), callOf());
    const first = await tasks.load('t1', callOf());
    const second = await tasks.load('t1', callOf());
    if (!first || !second) throw new Error('It was saved');
    first.history.push(message('m1'));
    first.artifacts = [artifact('x', '0', '1'), artifact('y', 'first')];
    first.metadata = { a: 1 };
    second.history.push(message('m2'));
    second.artifacts = [artifact('x', '0', '2'), artifact('y', 'second')];
    second.status = statusOf(TASK_STATE_COMPLETED);
    await tasks.save(first, callOf());
    await tasks.save(second, callOf());
    await tasks.save(second, callOf());
    const loaded = await tasks.load('t1', callOf());
    expect(messageIds(loaded)).toEqual(['m0', 'm1', 'm2']);
    expect(artifactTexts(loaded)).toEqual({ x: ['0', '1', '2'], y: ['first', 'second'] });
    expect(loaded).toMatchObject({ metadata: { a: 1 }, status: { state: TASK_STATE_COMPLETED } });
  });

  it('merges a task that is no longer current: of copies, in the call that loaded them', async () => {
    const { tasks } = open();
    await tasks.save(taskOf('t1', { history: [message('m0')], artifacts: [artifact('x', '0')] }), callOf());
    const [callA, callB] = [callOf(), callOf()];
    const base = structuredClone(await tasks.load('t1', callA));
    await tasks.load('t1', callB);
    if (!base) throw new Error('It was saved');
    await tasks.save({ ...base, history: [...base.history, message('m1')] }, callA);
    await tasks.save({ ...base, artifacts: [artifact('x', 'other')], metadata: { b: 1 } }, callB);
    const loaded = await tasks.load('t1', callOf());
    expect(messageIds(loaded)).toEqual(['m0', 'm1']);
    expect(artifactTexts(loaded)).toEqual({ x: ['other'] });
    expect(loaded?.metadata).toEqual({ b: 1 });
  });

  it('merges a task of a writer that never loaded it', async () => {
    const { tasks } = open();
    const whole = taskOf('t1', { history: [message('m0'), message('m1')], artifacts: [artifact('x', '0', '1')] });
    await tasks.save(whole, callOf());
    await tasks.save(taskOf('t1', { history: [message('m0')], artifacts: [artifact('x', '0')] }), callOf());
    expect(await tasks.load('t1', callOf())).toEqual(whole);
    await tasks.save(taskOf('t1', { artifacts: [artifact('x', '0', '2')] }), callOf());
    expect(artifactTexts(await tasks.load('t1', callOf()))).toEqual({ x: ['0', '1', '2'] });
    await tasks.save(taskOf('t1', { artifacts: [artifact('x', 'all new')] }), callOf());
    expect(artifactTexts(await tasks.load('t1', callOf()))).toEqual({ x: ['all new'] });
  });

  it('does not begin a task again that ended while somebody worked on it', async () => {
    const { tasks } = open();
    await tasks.save(taskOf('t1'), callOf());
    const [worker, canceller] = [await tasks.load('t1', callOf()), await tasks.load('t1', callOf())];
    if (!worker || !canceller) throw new Error('It was saved');
    await tasks.save({ ...canceller, status: statusOf(TASK_STATE_CANCELED) }, callOf());
    worker.status = statusOf(TASK_STATE_WORKING, '2026-01-01T00:00:00.000Z');
    worker.history.push(message('m1'));
    await tasks.save(worker, callOf());
    expect(await tasks.load('t1', callOf())).toMatchObject({
      status: { state: TASK_STATE_CANCELED },
      history: [{ messageId: 'm1' }],
    });
  });

  it('does not bring back a task that was deleted while somebody worked on it', async () => {
    const { tasks, sessions, appName } = open();
    await tasks.save(taskOf('t1', { history: [message('old')] }), callOf());
    const stale = await tasks.load('t1', callOf());
    if (!stale) throw new Error('It was saved');
    const key = { appName, userId: 'ann', sessionId: 't1' };
    await sessions.deleteSession(key);
    stale.history.push(message('late'));
    await expect(tasks.save(stale, callOf())).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect(await tasks.load('t1', callOf())).toBeUndefined();
    await tasks.save(taskOf('t1', { history: [message('new')] }), callOf());
    expect(messageIds(await tasks.load('t1', callOf()))).toEqual(['new']);
  });

  it('follows rewinds of the session, and reads what others said in it', async () => {
    const { tasks, sessions, appName } = open();
    const call = callOf();
    await tasks.save(taskOf('t1', { history: [message('m1')] }), call);
    const key = { appName, userId: 'ann', sessionId: 't1' };
    const session = { appName, userId: 'ann', id: 't1' };
    await sessions.appendEvent({
      session,
      event: { id: 'e1', author: 'bot', content: { role: 'model', parts: [{ text: 'Hm' }] } },
    });
    expect((await tasks.load('t1', call))?.history.at(-1)).toEqual({ ...message('e1', 'Hm'), role: Role.ROLE_AGENT });
    const known = await tasks.load('t1', call);
    await sessions.rewindSession({ ...key, toSeq: 2 });
    expect(messageIds(await tasks.load('t1', call))).toEqual(['m1']);
    // What was rewound does not come back with an old object.
    known?.history.push(message('m2'));
    if (known) await tasks.save(known, call);
    expect(messageIds(await tasks.load('t1', callOf()))).toEqual(['m1', 'm2']);
  });
}
