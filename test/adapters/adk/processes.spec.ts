import { SessionService } from '../../../src/index.js';
import { sharedStoreOfEachKind } from '../../support/processes/shared-stores.js';
import { openDescribed } from '../../support/processes/store-description.js';
import { WorkerProcesses } from '../../support/processes/worker-process.js';
import { describeSuite } from '../support/describe-suite.js';
import { KEY, USER } from './support/opened.js';

const PROCESSES = 2;
const APPENDS = 50;
const SUITE = { framework: 'Google ADK', peer: '@google/adk', suite: 'two processes with one user' };

/** The sessions of a process. */
const sessionsOf = (index: number) => [0, 1].map((number) => ({ ...USER, sessionId: `own-${index}-${number}` }));
const names = (writer: string): string[] => Array.from({ length: APPENDS }, (_, number) => `${writer}-${number + 1}`);

describeSuite(
  SUITE,
  ({ create }) => {
    const withProcesses = async (test: (workers: WorkerProcesses, sessions: SessionService) => Promise<void>) => {
      const workers = await WorkerProcesses.start(PROCESSES);
      const store = await create();
      const sessions = new SessionService({ storage: await openDescribed(store.description) });
      try {
        await workers.run('open', () => ({ store: store.description }));
        await test(workers, sessions);
        await workers.run('close', () => undefined);
        await store.checkIntegrity();
      } finally {
        await sessions.close();
        await workers.stop();
        await store.destroy();
      }
    };

    it('keep all 200 keys of the user', () =>
      withProcesses(async (workers, sessions) => {
        await workers.run('runAdk', (index) => ({
          keys: sessionsOf(index),
          writer: `w${index}`,
          count: APPENDS,
          kind: 'appends',
        }));
        const state = await sessions.getUserState(USER);
        const all = Array.from({ length: PROCESSES }, (_, index) => [`w${index}-0`, `w${index}-1`]).flat();
        expect(Object.keys(state).toSorted()).toEqual(all.flatMap(names).toSorted());
        expect(Object.keys(state)).toHaveLength(200);
        for (const [index, key] of [0, 1].flatMap((process) => sessionsOf(process)).entries()) {
          const writer = all[index] ?? '';
          const events = (await sessions.getSession(key))?.events ?? [];
          expect(events.map(({ id }) => id)).toEqual(names(writer));
        }
      }));

    it('lose no event and no key of a session that both write to', () =>
      withProcesses(async (workers, sessions) => {
        await workers.run('runAdk', (index) => ({ keys: [KEY], writer: `w${index}`, count: APPENDS, kind: 'appends' }));
        const session = await sessions.getSession(KEY);
        expect(session?.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
        for (const writer of ['w0-0', 'w1-0']) {
          const own = session?.events.filter(({ invocationId }) => invocationId === writer);
          expect(own?.map(({ id }) => id)).toEqual(names(writer));
          expect(Object.keys(session?.state.toRecord() ?? {})).toEqual(expect.arrayContaining(names(writer)));
        }
      }));

    it('answer one message after the other in turns', () =>
      withProcesses(async (workers, sessions) => {
        await workers.run('runAdk', (index) => ({ keys: [KEY], writer: `w${index}`, count: 3, kind: 'turns' }));
        const events = (await sessions.getSession(KEY))?.events ?? [];
        const runs = events.map(({ invocationId }) => invocationId).filter((id, place, ids) => id !== ids[place - 1]);
        expect(runs).toHaveLength(6);
        expect(new Set(runs).size).toBe(6);
        expect(events.filter(({ author }) => author === 'user')).toHaveLength(6);
      }));
  },
  sharedStoreOfEachKind,
);
