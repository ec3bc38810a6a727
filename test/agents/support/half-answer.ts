import type { EventInput } from '../../../src/index.js';
import type { OpenStorage } from '../../../src/testing/open-storage.js';
import type { TestStore } from '../../support/stores.js';
import { AgentApp, KEY } from './agent-app.js';
import { HeldHandler } from './handlers.js';
import { mortalStorage } from './mortal-storage.js';

/** The request of a {@link HalfAnswer}. */
export const REQUEST = { ...KEY, newMessage: 'Where?', invocationId: 'i-1' };

/** The run of a process that dies when it has said half an answer. */
export interface HalfAnswer {
  readonly opened: OpenStorage;
  /** Another process. */
  readonly living: AgentApp;
  /** The process is dead, and its turn is over. */
  die(): void;
  close(): Promise<void>;
}

export async function halfAnswer(store: TestStore | undefined, said: readonly EventInput[]): Promise<HalfAnswer> {
  if (!store) throw new Error('There is no store');
  const clock = { time: Date.now(), now: () => clock.time };
  const opened = await store.open({ clock });
  const mortal = mortalStorage(opened.storage);
  const partials = { flushMs: 1 };
  const living = new AgentApp(opened.storage, { partials });
  await living.sessions.createSession(KEY);
  const half = new HeldHandler(said);
  new AgentApp(mortal.storage, { partials }).agents.run(REQUEST, half.handler).result.catch(() => undefined);
  await half.started;
  return {
    opened,
    living,
    die: () => {
      mortal.kill();
      clock.time += 60_000;
    },
    close: async () => {
      await living.close();
      expect(living.errors).toEqual([]);
      await opened.destroy();
    },
  };
}
