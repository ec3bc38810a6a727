import { SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/sessions/storage/session-storage.js';
import { ManualClock } from '../../src/testing/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import type { SummarizerOptions } from '../../src/summarizer/summarizer-options.js';
import { recordingCalls } from '../support/recorded-calls.js';
import { storeOfEachKind } from '../support/stores.js';
import { HeldModel } from './held-model.js';
import { KEY, SESSION, agent } from './summarized-sessions.js';

const APPENDS = 20;

describe.each(storeOfEachKind)('store calls of appends on $name', (store) => {
  let calls: string[];
  let model: HeldModel;
  let sessions: SessionService;
  let end: () => Promise<void>;

  /** Without options there are no summaries. */
  async function start(options?: SummarizerOptions): Promise<void> {
    const clock = new ManualClock();
    const { storage, destroy } = await store.open({ clock });
    calls = [];
    model = new HeldModel();
    const recorded: SessionStorage = recordingCalls(storage, calls);
    sessions = new SessionService({ storage: recorded, clock });
    const summaries =
      options && new SummarizerSessionManager({ sessions }, { shutdownSeconds: 0.05, ...options, model });
    await sessions.createSession(KEY);
    calls.length = 0;
    end = async () => {
      model.answer();
      await summaries?.close();
      await destroy();
    };
  }

  afterEach(async () => {
    jest.restoreAllMocks();
    await end();
  });

  async function append(branch?: string): Promise<void> {
    for (let number = 0; number < APPENDS; number++) {
      await sessions.appendEvent({ session: SESSION, event: { ...agent('a word'), branch } });
    }
    await sessions.whenIdle();
  }

  const onlyAppends = Array.from({ length: APPENDS }, () => 'append');

  it('are the same with and without summaries, except one agenda entry per half minute', async () => {
    await start();
    await append();
    expect(calls).toEqual(onlyAppends);
    await end();

    await start({ turns: 1_000, events: 1_000, tokens: 1_000, idleSeconds: 600, importantLength: 1_000 });
    const now = performance.now.bind(performance);
    for (const minutes of [0, 1, 2]) {
      jest.spyOn(performance, 'now').mockImplementation(() => now() + minutes * 30_000);
      calls.length = 0;
      await append();
      await append();
      expect(calls).toEqual(['agenda.put', ...onlyAppends, ...onlyAppends]);
    }
  });

  it('are the same with summaries of branches, until one has as many events as they need', async () => {
    await start({ turns: 0, branchEvents: APPENDS });
    await append('root.writer');
    await append();
    calls.splice(0, 1);
    expect(calls).toEqual([...onlyAppends, ...onlyAppends]);
    await append('root.writer');
    expect(calls).toContain('read');
  });

  it('are the same while a model works', async () => {
    await start({ events: 10, keepRecentEvents: 2 });
    await append();
    await model.called(1);
    calls.length = 0;
    await append();
    await append();
    // On a slow machine the model works for so long that its lease has to be renewed, which no append waits for.
    expect(calls.filter((name) => name !== 'leases.renew')).toEqual([...onlyAppends, ...onlyAppends]);
  });
});
