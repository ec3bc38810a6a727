import { Logger } from '@nestjs/common';
import { type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';
import { type DueTrigger, SummarizerSessionManager } from '../../src/summarizer/index.js';
import type { SummarizerOptions } from '../../src/summarizer/summarizer-options.js';
import { CountingStorage } from '../support/counting-storage.js';
import { storeOfEachEncoding } from '../support/stores.js';
import { inMemory } from './in-memory.js';
import { KEY, SESSION, ScriptedModel, SummarizedSessions, agent, call, turns, user } from './summarized-sessions.js';

const RESEARCHER = 'root.researcher';
const WRITER = 'root.writer';
const OPTIONS: SummarizerOptions = { branchEvents: 4, keepRecentEvents: 2 };

function by(author: string, ...texts: string[]): EventInput[] {
  return texts.map((text) => ({ ...agent(text), author, branch: `root.${author}` }));
}

const FOUR = ['r1', 'r2', 'r3', 'r4'];

const ofBranchesOnly: ScriptedModel['reply'] = async ({ conversation }) => {
  const isWhole = ['r1', 'w1'].every((each) => conversation.some(({ text }) => text === each));
  if (isWhole) throw new Error('it is too long');
  return { text: 'short' };
};

/** The summaries of a branch: what they cover, and whether readers get them. */
async function ofBranch(open: SummarizedSessions, branch: string, sessionId = 'one'): Promise<[number, boolean][]> {
  const all = await open.summaries.listSummaries({ ...KEY, sessionId, branch });
  return all.map(({ toSeq, isInForce }) => [toSeq, isInForce]);
}

describe.each(storeOfEachEncoding)('automatic summaries of branches on $name', (store) => {
  let open: SummarizedSessions;
  let others: SummarizedSessions[];

  const start = async (options: SummarizerOptions = OPTIONS, model?: ScriptedModel): Promise<void> => {
    open = await SummarizedSessions.open(store, options, model);
    others = [];
  };

  const another = (options: SummarizerOptions = OPTIONS): SummarizedSessions => {
    const process = open.restarted(options);
    others.push(process);
    return process;
  };

  afterEach(async () => {
    for (const process of others) await process.destroy();
    await open.destroy();
    jest.restoreAllMocks();
  });

  async function append(...events: EventInput[]): Promise<void> {
    await open.append(...events);
    await open.settle();
  }

  /** The session rests until its entry on the agenda is due. */
  async function sweptAfterRest(process = open): Promise<void> {
    open.clock.advanceSeconds(61);
    await process.summaries.sweep();
    await process.settle();
  }

  it('are written when a branch has more events of its own than the setting, and leave the view as it is', async () => {
    await start();
    await append(user('q1'), ...by('researcher', ...FOUR), ...by('writer', 'w1', 'w2'));
    expect(open.model.requests).toHaveLength(0);
    const before = await open.view();
    await append(...by('researcher', 'r5'));
    expect(await ofBranch(open, RESEARCHER)).toEqual([[4, true]]);
    expect(await ofBranch(open, WRITER)).toEqual([]);
    expect(open.model.requests[0]?.conversation.map(({ text }) => text)).toEqual(['q1', 'r1', 'r2', 'r3']);
    expect((await open.view()).slice(0, before.length)).toEqual(before);
    expect(await open.summaries.getSessionSummary(KEY)).toBeUndefined();
  });

  it('go on when the branch has grown as much again', async () => {
    await start();
    await append(user('q1'), ...by('researcher', ...FOUR, 'r5'));
    for (const text of ['r6', 'r7', 'r8']) await append(...by('researcher', text));
    expect(await ofBranch(open, RESEARCHER)).toEqual([
      [4, false],
      [8, true],
    ]);
    expect(open.model.requests[1]).toMatchObject({ previousSummary: 'summary 1' });
  });

  it('are not written because of events without a branch, or of other branches', async () => {
    await start();
    await append(...by('researcher', ...FOUR), ...turns(1, 4), ...by('writer', 'w1', 'w2', 'w3', 'w4'));
    await sweptAfterRest();
    expect(open.model.requests).toHaveLength(0);
  });

  it('are not written without the setting, nor with autoSummarize: false, but then on request', async () => {
    await start({ keepRecentEvents: 2, events: 100 });
    const onRequest = another({ ...OPTIONS, autoSummarize: false });
    for (const process of [open, onRequest]) {
      await process.append(...by('researcher', ...FOUR));
      await sweptAfterRest(process);
    }
    expect(open.model.requests).toHaveLength(0);
    const create = (process: SummarizedSessions) =>
      process.summaries.createSessionSummary({ session: SESSION, branch: RESEARCHER });
    expect(await create(open)).toBeUndefined();
    expect(await create(onRequest)).toMatchObject({ branch: RESEARCHER, toSeq: 6 });
    await append(...turns(1, 4));
    expect(await create(onRequest)).toBeUndefined();
  });

  it('come after the summary of the whole, which may cover them', async () => {
    await start({ ...OPTIONS, events: 4 });
    await append(...by('researcher', ...FOUR, 'r5'));
    await sweptAfterRest();
    expect((await open.summaries.getSessionSummary({ ...KEY, branch: RESEARCHER }))?.branch).toBeUndefined();
    expect(open.model.requests).toHaveLength(1);
  });

  it('are found by the next append of a process that was just started', async () => {
    await start({ ...OPTIONS, autoSummarize: false });
    await append(...by('researcher', ...FOUR, 'r5'), ...turns(1, 1));
    const next = another();
    await next.append(...by('writer', 'w1'));
    await next.settle();
    expect(await ofBranch(open, RESEARCHER)).toEqual([[5, true]]);
  });

  it('are found by the sweep of another process after a crash', async () => {
    await start();
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const read = jest.spyOn(open.storage, 'read').mockRejectedValue(new Error('it was killed'));
    await append(...by('researcher', ...FOUR, 'r5'));
    expect(read).toHaveBeenCalled();
    read.mockRestore();
    await sweptAfterRest(another());
    expect(await ofBranch(open, RESEARCHER)).toEqual([[3, true]]);
  });

  it('count the events that other processes append, and are written once', async () => {
    await start();
    const second = another();
    for (const [index, event] of by('researcher', ...FOUR, 'r5').entries()) {
      await (index % 2 === 0 ? open : second).append(event);
    }
    await Promise.all([open.settle(), second.settle()]);
    await Promise.all([sweptAfterRest(open), sweptAfterRest(second)]);
    expect(await ofBranch(open, RESEARCHER)).toEqual([[3, true]]);
    expect(open.model.requests).toHaveLength(1);
  });

  it('are written once if several processes find them at the same time', async () => {
    await start();
    await append(user('q1'), ...by('researcher', ...FOUR));
    const processes = [open, another(), another()];
    await Promise.all(processes.map((process, index) => process.append(...by('researcher', `r${5 + index}`))));
    await Promise.all(processes.map((process) => process.settle()));
    open.clock.advanceSeconds(61);
    await Promise.all(processes.map(({ summaries }) => summaries.sweep()));
    await Promise.all(processes.map((process) => process.settle()));
    expect(await ofBranch(open, RESEARCHER)).toEqual([[expect.any(Number), true]]);
    expect(open.model.requests).toHaveLength(1);
  });

  it('are tried again after the model failed, and keep neither the whole nor another branch waiting', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const isDown = { value: true };
    const reply: ScriptedModel['reply'] = async ({ conversation }) => {
      if (isDown.value && conversation.some(({ text }) => text === 'r1')) throw new Error('it is away');
      return { text: 'short' };
    };
    await start(OPTIONS, new ScriptedModel(reply));
    await append(...by('researcher', ...FOUR, 'r5'));
    expect(warn.mock.calls.map(([line]) => line as string)).toEqual([
      expect.stringMatching(/^No summary of branch "root.researcher" of session "one", try 2 in \d+ s: .*it is away/),
    ]);
    expect(open.summaries.counts).toMatchObject({ failed: 1, stored: 0 });
    await append(...by('writer', 'w1', 'w2', 'w3', 'w4', 'w5'));
    expect(await ofBranch(open, WRITER)).toEqual([[8, true]]);
    // It is found again by then, but not asked for so soon.
    await append(...by('researcher', 'r6', 'r7', 'r8'));
    expect(open.model.requests).toHaveLength(2);
    isDown.value = false;
    await sweptAfterRest();
    expect(await ofBranch(open, RESEARCHER)).toEqual([[12, true]]);
  });

  it('go on while the summary of the whole waits for its next try', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    await start({ ...OPTIONS, events: 6 }, new ScriptedModel(ofBranchesOnly));
    for (const event of [...by('writer', 'w1', 'w2'), ...by('researcher', ...FOUR, 'r5')]) await append(event);
    expect(open.summaries.counts).toMatchObject({ failed: 1, stored: 1 });
    expect(await ofBranch(open, RESEARCHER)).toEqual([[5, true]]);

    for (const event of by('writer', 'w3', 'w4', 'w5')) await append(event);
    expect(open.summaries.counts).toMatchObject({ failed: 1, stored: 2 });
    expect(await ofBranch(open, WRITER)).toEqual([[9, true]]);
  });

  it('are left to others, announced with their branch, and written by what was announced', async () => {
    await start({ ...OPTIONS, leaveToOthers: true });
    const writing = another();
    const due: DueTrigger[] = [];
    open.summaries.hooks.onDue((_, dueSince) => void due.push(dueSince));
    await append(...by('researcher', ...FOUR));
    await append(...by('researcher', 'r5'));
    await open.settle();
    expect(due).toEqual([{ incarnation: expect.any(String), seq: 5, branch: RESEARCHER }]);
    expect(open.model.requests).toHaveLength(0);
    const [dueSince] = JSON.parse(JSON.stringify(due)) as DueTrigger[];
    const created = await writing.summaries.createSessionSummary({ session: SESSION, dueSince });
    expect(created).toMatchObject({ branch: RESEARCHER, toSeq: 3 });
    expect(await writing.summaries.createSessionSummary({ session: SESSION, dueSince })).toBeUndefined();
    const wrong = { session: SESSION, dueSince, branch: WRITER };
    await expect(writing.summaries.createSessionSummary(wrong)).rejects.toMatchObject({ path: 'dueSince' });
  });

  it('are left to others, which find them at once in their next sweep', async () => {
    await start({ ...OPTIONS, leaveToOthers: true });
    await append(...by('researcher', ...FOUR, 'r5'));
    const writing = another();
    expect(await writing.summaries.sweep()).toBe(1);
    await writing.settle();
    expect(await ofBranch(open, RESEARCHER)).toEqual([[3, true]]);
  });

  it('are written again after a rewind took them back', async () => {
    await start();
    await append(...by('researcher', ...FOUR, 'r5'));
    await open.sessions.rewindSession({ ...KEY, toSeq: 5 });
    await append(...by('researcher', 'r6'));
    expect(await ofBranch(open, RESEARCHER)).toEqual([
      [3, false],
      [4, true],
    ]);
  });

  it('are not written for events that were rewound', async () => {
    await start();
    await append(...by('researcher', ...FOUR));
    await open.sessions.rewindSession({ ...KEY, toSeq: 2 });
    await append(...by('researcher', 'r5', 'r6'));
    await sweptAfterRest();
    expect(open.model.requests).toHaveLength(0);
  });

  it('are written in a fork, whose events nobody appended', async () => {
    await start({ ...OPTIONS, branchEvents: 5 });
    await append(...by('researcher', ...FOUR, 'r5'));
    await open.sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    const session = { ...SESSION, id: 'fork' };
    const [event] = by('researcher', 'r6');
    await open.sessions.appendEvent({ session, event: event ?? agent('') });
    await open.settle();
    expect(await ofBranch(open, RESEARCHER, 'fork')).toEqual([[4, true]]);
    expect(await ofBranch(open, RESEARCHER)).toEqual([]);
  });

  it('wait for a pending call of a tool, and are found when it has its answer', async () => {
    await start();
    await append({ ...call('c'), branch: RESEARCHER }, ...by('researcher', ...FOUR));
    await sweptAfterRest();
    expect(open.model.requests).toHaveLength(0);
    const response = { functionResponse: { id: 'c', name: 'look', response: {} } };
    await append({ author: 'agent', branch: RESEARCHER, content: { role: 'user', parts: [response] } });
    await append(...by('researcher', 'r5', 'r6'));
    await sweptAfterRest();
    expect(await ofBranch(open, RESEARCHER)).toHaveLength(1);
  });
});

describe('A due branch', () => {
  it('is told to the hooks with its name', async () => {
    const open = await SummarizedSessions.open(inMemory, OPTIONS);
    const seen: unknown[] = [];
    open.summaries.hooks.onBeforeSummary(({ branch }) => void seen.push(branch));
    open.summaries.hooks.onAfterSummary(({ branch }) => void seen.push(branch));
    open.summaries.hooks.onStored((_, { branch }) => void seen.push(branch));
    await open.append(...by('researcher', ...FOUR, 'r5'));
    await open.settle();
    expect(seen).toEqual([RESEARCHER, RESEARCHER, RESEARCHER]);
    await open.destroy();
  });

  it('that a hook refuses delays no summary of the whole', async () => {
    const open = await SummarizedSessions.open(inMemory, { ...OPTIONS, events: 6 });
    open.summaries.hooks.onBeforeSummary(({ branch }) => (branch === undefined ? undefined : false));
    await open.append(...by('researcher', ...FOUR, 'r5'));
    await open.settle();
    await open.append(...turns(1, 1));
    await open.settle();
    expect(await open.summaries.getSessionSummary(KEY)).toMatchObject({ text: 'summary 1' });
    expect(open.summaries.counts).toMatchObject({ stored: 1, failed: 0 });
    await open.destroy();
  });

  it('that a hook refuses delays no summary for idle time', async () => {
    const open = await SummarizedSessions.open(inMemory, { ...OPTIONS, idleSeconds: 130 });
    open.summaries.hooks.onBeforeSummary(({ branch }) => (branch === undefined ? undefined : false));
    await open.append(...by('researcher', ...FOUR, 'r5'));
    await open.settle();
    for (const seconds of [61, 70]) {
      expect(await open.summaries.getSessionSummary(KEY)).toBeUndefined();
      open.clock.advanceSeconds(seconds);
      await open.summaries.sweep();
      await open.settle();
    }
    expect(await open.summaries.getSessionSummary(KEY)).toMatchObject({ text: 'summary 1' });
    await open.destroy();
  });

  it('is enough for summaries to be written, and no other threshold is needed', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const open = await SummarizedSessions.open(inMemory, OPTIONS);
    expect(warn).not.toHaveBeenCalled();
    await open.destroy();
    warn.mockRestore();
  });

  it('stays on the agenda no longer than it is due', async () => {
    const open = await SummarizedSessions.open(inMemory, OPTIONS);
    await open.append(...by('researcher', ...FOUR, 'r5'));
    await open.settle();
    open.clock.advanceSeconds(61);
    expect(await open.summaries.sweep()).toBe(1);
    open.clock.advanceSeconds(3_600);
    expect(await open.summaries.sweep()).toBe(0);
    await open.destroy();
  });

  it('is looked for as the log grows, not again and again in all of it', async () => {
    const counting = new CountingStorage(new InMemorySessionStorage());
    const sessions = new SessionService({ storage: counting.storage });
    const summaries = new SummarizerSessionManager(
      { sessions },
      { turns: 0, contentLength: 0, branchEvents: 20, keepRecentEvents: 2, model: new ScriptedModel() },
    );
    const session = await sessions.createSession(KEY);
    const read: number[] = [];
    for (let round = 0; round < 30; round++) {
      counting.taken();
      for (const event of [...turns(1, 2), ...by('writer', 'w'), ...by('researcher', 'r', 'r', 'r', 'r', 'r')]) {
        await sessions.appendEvent({ session, event });
        await summaries.whenIdle();
      }
      read.push(counting.taken().events);
    }
    expect(summaries.counts.stored).toBeGreaterThan(5);
    // Three of four rounds read nothing.
    expect(read.filter((count) => count === 0).length).toBeGreaterThan(15);
    await summaries.close();
    await sessions.close();
  });
});
