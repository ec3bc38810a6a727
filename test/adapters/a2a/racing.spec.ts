import { Role, TaskPushNotificationConfig, TaskState } from '@a2a-js/sdk';
import { AgentEvent, InMemoryTaskStore, ResultManager, type TaskStore } from '@a2a-js/sdk/server';
import { ComponentConflictError, ComponentSession, InMemoryComponentStore } from '../../../src/components/index.js';
import { ConfigurationError, InMemorySessionStorage, SessionService } from '../../../src/index.js';
import { SessionPushNotificationStore, SessionTaskStore } from '../../../src/adapters/a2a/index.js';
import { describeSharedStores } from '../../support/processes/shared-stores.js';
import { openDescribed } from '../../support/processes/store-description.js';
import { artifact, artifactTexts, callOf, message, messageIds, statusOf, taskOf } from './support/tasks.js';

const STEPS = 10;

/**
 * What a server does while an agent works: it loads the task, adds to it, and saves it. Within a process it does so for one
 * caller at a time, so each writer is another caller, as in several processes.
 */
async function work(tasks: TaskStore, writer: string): Promise<void> {
  const manager = new ResultManager(tasks, callOf({ user: writer }));
  const inTask = { taskId: 't1', contextId: 'c1', metadata: undefined };
  for (let index = 0; index < STEPS; index++) {
    const said = message(`${writer}${index}`, 'working', Role.ROLE_AGENT);
    const status = statusOf(TaskState.TASK_STATE_WORKING, undefined, said);
    await manager.processEvent(AgentEvent.statusUpdate({ ...inTask, status }));
    const chunk = { ...inTask, artifact: artifact('shared', `${writer}${index}`), append: true, lastChunk: false };
    await manager.processEvent(AgentEvent.artifactUpdate(chunk));
  }
}

function expected(writer: string): string[] {
  return Array.from({ length: STEPS }, (_, index) => `${writer}${index}`);
}

describeSharedStores('Two servers that work on one task on a $name store', ({ create }) => {
  it('lose and repeat nothing', async () => {
    const store = await create();
    const services = await Promise.all(
      ['a', 'b'].map(async () => new SessionService({ storage: await openDescribed(store.description) })),
    );
    const stores = services.map((sessions) => new SessionTaskStore({ sessions, appName: 'shop', userId: () => 'ann' }));
    const [first, second] = stores;
    if (!first || !second) throw new Error('There are two');
    await first.save(taskOf('t1', { artifacts: [artifact('shared')] }), callOf());
    await Promise.all([work(first, 'a'), work(second, 'b')]);
    const task = await second.load('t1', callOf());
    for (const writer of ['a', 'b']) {
      expect(messageIds(task).filter((id) => id.startsWith(writer))).toEqual(expected(writer));
      expect(artifactTexts(task).shared?.filter((text) => text.startsWith(writer))).toEqual(expected(writer));
    }
    expect(messageIds(task)).toHaveLength(2 * STEPS);
    expect(artifactTexts(task).shared).toHaveLength(2 * STEPS);
    for (const sessions of services) await sessions.close();
    await store.destroy();
  });
});

describe('Two servers that work on one task in memory', () => {
  it('lose messages with the store of the SDK, which is why', async () => {
    const tasks = new InMemoryTaskStore(() => 'ann');
    await tasks.save(taskOf('t1'), callOf());
    await Promise.all([work(tasks, 'a'), work(tasks, 'b')]);
    expect(messageIds(await tasks.load('t1', callOf())).length).toBeLessThan(2 * STEPS);
  });
});

describe('The stores of A2A', () => {
  it('refuse sessions that lose their history', () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage(), history: { keepHistory: false } });
    expect(() => new SessionTaskStore({ sessions, appName: 'shop' })).toThrow(ConfigurationError);
  });

  it('leave others time while they are overtaken', async () => {
    const components = new ComponentSession({ store: new InMemoryComponentStore({}) });
    const push = new SessionPushNotificationStore({ components, appName: 'shop', allowUrl: () => true });
    const save = components.save.bind(components);
    let isOvertaken = true;
    jest.spyOn(components, 'save').mockImplementation(async (...given) => {
      if (isOvertaken) throw new ComponentConflictError('s', 'n', 1, 2);
      return save(...given);
    });
    setImmediate(() => (isOvertaken = false));
    await push.save('t1', callOf(), TaskPushNotificationConfig.fromJSON({ id: 'c1', url: 'https://x.test' }));
    expect(await push.load('t1', callOf())).toHaveLength(1);
  });
});
