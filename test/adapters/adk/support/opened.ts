import { type Event, Runner, type RunnerConfig } from '@google/adk';
import { AdkSessionService } from '../../../../src/adapters/adk/index.js';
import { InMemorySessionStorage, SessionService } from '../../../../src/index.js';
import type { SessionStorage } from '../../../../src/storage.js';
import type { TestStore } from '../../../support/stores.js';
import { collected } from './collected.js';
import { message } from './scripted-llm.js';

export const USER = { appName: 'shop', userId: 'ann' };
export const KEY = { ...USER, sessionId: 'chat-1' };
/** The key in a request of a runner. */
export const RUN = { userId: KEY.userId, sessionId: KEY.sessionId };

/** The services over a store in memory, unless another one is given. */
export function openServices(
  storage: SessionStorage = new InMemorySessionStorage(),
  options: { refuseStale?: boolean } = {},
) {
  const sessions = new SessionService({ storage });
  return { sessions, storage, adk: new AdkSessionService({ sessions, ...options }) };
}

export type Services = ReturnType<typeof openServices>;

/** Runs a test on an empty store. */
export async function withServices(store: TestStore, test: (services: Services) => Promise<void>): Promise<void> {
  const { storage, destroy } = await store.open({});
  try {
    const services = openServices(storage);
    await test(services);
    await services.sessions.close();
  } finally {
    await destroy();
  }
}

export function runnerOf({ adk }: Pick<Services, 'adk'>, agent: NonNullable<RunnerConfig['agent']>): Runner {
  return new Runner({ appName: USER.appName, agent, sessionService: adk });
}

/** Runs a message to its end. */
export async function run(
  runner: Runner,
  newMessage: string | ReturnType<typeof message> | Parameters<Runner['runAsync']>[0]['newMessage'],
  more: Partial<Parameters<Runner['runAsync']>[0]> = {},
): Promise<Event[]> {
  const content = typeof newMessage === 'string' ? message(newMessage) : newMessage;
  return collected(runner.runAsync({ ...RUN, newMessage: content, ...more }));
}
