import { setImmediate as tick } from 'node:timers/promises';
import type { LoggedEvent } from '../../src/index.js';
import type { RunHandler, RunPolicy, RunStatus } from '../../src/agents/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { randomNumbers, seed } from '../support/random.js';
import { storeOfEachKind } from '../support/stores.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { call, inShort, partial, response, text } from './support/handlers.js';

const POLICIES: readonly RunPolicy[] = ['reject', 'enqueue', 'interrupt', 'rollback', 'merge', 'debounce'];
const RUNS = 10;
const ROUNDS = 3;

/** Whole numbers below a limit, the same for the same seed. */
function numbersOf(from: number): (below: number) => number {
  const next = randomNumbers(from);
  return (below) => Math.floor(next() * below);
}

/** Takes some steps, and may fail. */
function randomHandler(next: (below: number) => number, id: string): RunHandler {
  return async function* (context) {
    for (let step = next(4); step > 0; step--) {
      yield call(`${id}-${step}`);
      for (let pause = next(6); pause > 0; pause--) await tick();
      if (next(12) === 0) throw new Error('chance');
      yield response(`${id}-${step}`);
      if (next(3) === 0) await context.takeMessages();
      yield partial('so ');
    }
    yield text(`answer of ${id}`);
  };
}

/** What is wrong with a log: each message is there once, calls have responses, and invocations follow one another. */
function problemsOf(log: readonly LoggedEvent[]): string[] {
  const said = log.filter(({ author }) => author !== 'system');
  const ids = said.flatMap(({ id }) => (id.startsWith('message:') ? [id] : []));
  const invocations = said.map(({ invocationId }) => invocationId);
  const order = invocations.filter((id, index) => id !== invocations[index - 1]);
  const calls = inShort(said).join(' ');
  const open = [...calls.matchAll(/\?(\S+)/g)].filter(([, id]) => !calls.includes(`!${id ?? ''}`));
  const ends = order.map((id) => said.findLast(({ invocationId }) => invocationId === id));
  return [
    ...(new Set(ids).size < ids.length ? ['a message was taken twice'] : []),
    ...(new Set(order).size < order.length ? ['invocations overlap'] : []),
    ...open.map(([callText]) => `${callText} has no response`),
    ...ends.filter((end) => end?.author === 'user').map((end) => `${end?.invocationId ?? ''} has no end`),
  ];
}

describe.each(storeOfEachKind)('random runs on $name', ({ open }) => {
  let opened: OpenStorage;

  beforeEach(async () => {
    opened = await open({});
  });

  afterEach(() => opened.destroy());

  it(`leave a whole log, with each message once, with the seed ${seed}`, async () => {
    const apps = [new AgentApp(opened.storage), new AgentApp(opened.storage)];
    const [one] = apps;
    for (let round = 1; round <= ROUNDS; round++) {
      const next = numbersOf(seed + round);
      const statuses = await Promise.all(
        Array.from({ length: RUNS }, async (_, index): Promise<[string, RunStatus | 'refused' | 'failed']> => {
          for (let pause = next(30); pause > 0; pause--) await tick();
          const invocationId = `r${round}-${index}`;
          const policy = POLICIES[next(POLICIES.length)];
          const app = apps[index % 2] as AgentApp;
          const request = { ...KEY, newMessage: invocationId, invocationId, policy, quietMs: 5 };
          const stopped = next(8) === 0;
          const run = app.agents.run(request, randomHandler(numbersOf(seed + round * 100 + index), invocationId));
          if (stopped) await tick().then(() => apps[0]?.agents.stop({ ...KEY, invocationId }).catch(() => false));
          return run.result.then(
            ({ status }) => [invocationId, status],
            (error: { code?: string }) => [invocationId, error.code === 'TURN_HELD' ? 'refused' : 'failed'],
          );
        }),
      );
      const log = (await one?.log()) ?? [];
      expect(problemsOf(log)).toEqual([]);
      const answered = statuses.filter(([, status]) => !['refused', 'stopped'].includes(status)).map(([id]) => id);
      const texts = log.flatMap(({ id }) => (id.startsWith('message:') ? [id.slice('message:'.length)] : []));
      expect(texts).toEqual(expect.arrayContaining(answered));
      const refused = statuses.filter(([id, status]) => status === 'refused' && texts.includes(id));
      expect(refused).toEqual([]);
      expect((await one?.sessions.getSession(KEY))?.metadata.fields).toEqual({});
      expect(await one?.sessions.getTurn(KEY)).toBeUndefined();
    }
    for (const app of apps) {
      await app.close();
      // Of handlers that answered for another request.
      expect(app.errors.filter((error) => (error as Error).message !== 'chance')).toEqual([]);
    }
  });
});
