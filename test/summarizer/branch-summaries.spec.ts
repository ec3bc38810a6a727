import { type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';
import { toMessages } from '../../src/agents/index.js';
import { diagnose } from '../../src/doctor/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { exportSessions, importSessions } from '../../src/transfer/index.js';
import { CountingStorage } from '../support/counting-storage.js';
import { storeOfEachEncoding } from '../support/stores.js';
import { KEY, SESSION, SummarizedSessions, agent, answer, call, turns, user } from './summarized-sessions.js';

const RESEARCHER = 'root.researcher';
const WRITER = 'root.writer';

function by(author: string, text: string): EventInput {
  return { ...agent(text), author, branch: `root.${author}` };
}

/** Two turns, in each of which both agents say something. */
const CONVERSATION = [
  user('q1'),
  by('researcher', 'r1'),
  by('writer', 'w1'),
  user('q2'),
  by('researcher', 'r2'),
  by('writer', 'w2'),
];

describe.each(storeOfEachEncoding)('summaries of a branch on $name', (store) => {
  let open: SummarizedSessions;

  beforeEach(async () => {
    open = await SummarizedSessions.open(store, { keepRecentEvents: 2, autoSummarize: false });
    await open.append(...CONVERSATION);
  });

  afterEach(async () => {
    await open.destroy();
  });

  const summarise = (branch?: string, sessionId = 'one') =>
    open.summaries.createSessionSummary({ session: { ...SESSION, id: sessionId }, force: true, branch });
  const summaryFor = (branch?: string, sessionId = 'one') =>
    open.summaries.getSessionSummary({ ...KEY, sessionId, branch });

  /** What a reader of the branch gets. */
  async function seen(branch?: string, sessionId = 'one'): Promise<string[]> {
    const session = await open.sessions.getSession({ ...KEY, sessionId });
    if (!session) throw new Error('no session');
    return toMessages(session, { format: 'openai', branch }).map(({ content }) =>
      (typeof content === 'string' ? content : JSON.stringify(content ?? null))
        .replace('[Previous Context Summary]:\n', '= ')
        .replace('Summary of the conversation so far:\n', 'whole: '),
    );
  }

  it('leave the summary of the whole as complete as it was, so that idle time cuts no last turn', async () => {
    await open.destroy();
    open = await SummarizedSessions.open(store, { idleSeconds: 600, keepRecentEvents: 2, autoSummarize: false });
    const longTurn = ['r1', 'r2', 'r3', 'r4'].map((text) => by('researcher', text));
    await open.append(...turns(1, 2), user('q'), ...longTurn);
    open.clock.advanceSeconds(601);
    expect(await open.summaries.createSessionSummary({ session: SESSION })).toMatchObject({ text: 'summary 1' });
    expect(await summarise(RESEARCHER)).toMatchObject({ text: 'summary 2' });
    open.clock.advanceSeconds(601);
    expect(await open.summaries.createSessionSummary({ session: SESSION })).toBeUndefined();
    expect((await open.summaries.outlook(KEY)).isDue).toBe(false);
  });

  it('stand for readers of the branch in place of what they cover, and for nobody else', async () => {
    const before = [await seen(), await seen(WRITER)];
    const session = await open.sessions.getSession(KEY);
    const { counters, lastUpdateTime } = await record();
    expect(await summarise(RESEARCHER)).toMatchObject({
      branch: RESEARCHER,
      text: 'summary 1',
      seq: 7,
      fromSeq: 1,
      toSeq: 2,
      segments: 1,
      isInForce: true,
      originalEventCount: 4,
      compressedEventCount: 3,
      model: 'scripted',
    });
    expect(open.model.requests[0]?.conversation.map(({ text }) => text)).toEqual(['q1', 'r1']);
    await open.append(by('researcher', 'r3'));
    expect(await seen(RESEARCHER)).toEqual(['= summary 1', 'q2', 'r2', 'r3']);
    expect(await seen(`${RESEARCHER}.deeper`)).toEqual(['q1', 'r1', 'q2', 'r2', 'r3']);
    expect([await seen(), await seen(WRITER)]).toEqual([[...(before[0] ?? []), 'r3'], before[1]]);
    expect(await summaryFor()).toBeUndefined();
    expect(await open.summaries.listSummaries(KEY)).toEqual([]);
    expect(await summaryFor(WRITER)).toBeUndefined();
    // It was not there when this object was read, and makes it stale for nobody.
    expect(session?.lastUpdateTime).toBe(lastUpdateTime);
    expect((await record()).counters.events).toBe(counters.events + 1);
  });

  async function record() {
    const read = await open.storage.read({ key: KEY });
    if (!read) throw new Error('no session');
    return read.record;
  }

  it('make no writer stale', async () => {
    const { tipSeq } = await record();
    await summarise(RESEARCHER);
    expect((await record()).tipSeq).toBe(tipSeq);
    await open.sessions.appendEvent({ session: SESSION, event: user('q3'), expectedVersion: tipSeq });
    await expect(
      open.sessions.appendEvent({ session: SESSION, event: user('q4'), expectedVersion: tipSeq }),
    ).rejects.toMatchObject({ code: 'STALE_SESSION' });
  });

  it('go on from the one before', async () => {
    await summarise(RESEARCHER);
    await open.append(...CONVERSATION.slice(0, 3));
    expect(await summarise(RESEARCHER)).toMatchObject({ text: 'summary 2', fromSeq: 1, toSeq: 5 });
    expect(open.model.requests[1]).toMatchObject({ previousSummary: 'summary 1', isSegment: false });
    expect(open.model.requests[1]?.conversation.map(({ text }) => text)).toEqual(['q2', 'r2']);
    expect(await seen(RESEARCHER)).toEqual(['= summary 2', 'q1', 'r1']);
    expect(await summarise(RESEARCHER)).toBeUndefined();
    const all = await open.summaries.listSummaries({ ...KEY, branch: RESEARCHER });
    expect(all.map(({ text, isInForce }) => [text, isInForce])).toEqual([
      ['summary 1', false],
      ['summary 2', true],
    ]);
    const [first] = all;
    expect(await open.summaries.listSummaries({ ...KEY, branch: RESEARCHER, limit: 1 })).toEqual([first]);
    expect(await open.summaries.listSummaries({ ...KEY, branch: RESEARCHER, afterSeq: first?.seq })).toEqual([all[1]]);
    expect(await open.summaries.listSummaries({ ...KEY, branch: WRITER })).toEqual([]);
  });

  it('fall back to the summary of the whole, and replace it when they know more', async () => {
    await summarise();
    expect(await summaryFor(RESEARCHER)).toMatchObject({ text: 'summary 1', toSeq: 3 });
    expect((await summaryFor(RESEARCHER))?.branch).toBeUndefined();
    expect(await seen(RESEARCHER)).toEqual(['= whole: summary 1', 'q2', 'r2']);
    await open.append(...turns(3, 4));
    expect(await summarise(RESEARCHER)).toMatchObject({ text: 'summary 2', fromSeq: 1, toSeq: 9 });
    expect(open.model.requests[1]?.previousSummary).toBe('summary 1');
    expect(await seen(RESEARCHER)).toEqual(['= summary 2', 'q4', 'a4']);
    expect(await seen(WRITER)).toEqual(['= whole: summary 1', 'q2', 'w2', 'q3', 'a3', 'q4', 'a4']);
    await open.append(...turns(5, 6));
    await summarise();
    expect(await summaryFor(RESEARCHER)).toMatchObject({ text: 'summary 3' });
    expect(await seen(RESEARCHER)).toEqual(['= whole: summary 3', 'q6', 'a6']);
  });

  it('are due without force when the events that they do not cover meet a threshold', async () => {
    const eager = open.restarted({ keepRecentEvents: 1, events: 3, autoSummarize: false });
    const create = (branch: string) => eager.summaries.createSessionSummary({ session: SESSION, branch });
    expect(await create(RESEARCHER)).toMatchObject({ text: 'summary 1', toSeq: 2 });
    expect(await create(RESEARCHER)).toBeUndefined();
    await open.append(by('writer', 'w3'), by('writer', 'w4'));
    expect(await create(RESEARCHER)).toBeUndefined();
    await open.append(by('researcher', 'r3'), user('q3'));
    expect(await create(RESEARCHER)).toMatchObject({ text: 'summary 2', toSeq: 10 });
    await eager.destroy();
  });

  it('never cut a call from its response', async () => {
    const ofBranch = (event: EventInput): EventInput => ({ ...event, branch: RESEARCHER });
    await open.append(ofBranch(call('c')), by('writer', 'w3'), ofBranch(answer('c')), by('researcher', 'r3'));
    const summary = await summarise(RESEARCHER);
    expect(summary).toMatchObject({ toSeq: 2 });
    expect((await seen(RESEARCHER)).slice(0, 3)).toEqual(['= summary 1', 'q2', 'r2']);
  });

  it('are taken back by a rewind', async () => {
    await summarise(RESEARCHER);
    await open.sessions.rewindSession({ ...KEY, toSeq: 6 });
    expect(await summaryFor(RESEARCHER)).toBeUndefined();
    expect(await seen(RESEARCHER)).toEqual(['q1', 'r1', 'q2', 'r2']);
    expect(await summarise(RESEARCHER)).toMatchObject({ text: 'summary 2', toSeq: 2, isInForce: true });
    const all = await open.summaries.listSummaries({ ...KEY, branch: RESEARCHER });
    expect(all.map(({ isInForce }) => isInForce)).toEqual([false, true]);
  });

  it('are dropped if what they cover was rewound while the model worked', async () => {
    open.model.reply = async () => {
      await open.sessions.rewindSession({ ...KEY, toSeq: 1 });
      return { text: 'what never was' };
    };
    expect(await summarise(RESEARCHER)).toBeUndefined();
    expect(await seen(RESEARCHER)).toEqual(['q1']);
  });

  it('are kept in forks, with the numbers of the fork', async () => {
    await summarise();
    await open.append(...turns(3, 4));
    await summarise(RESEARCHER);
    await open.append(by('researcher', 'r5'));
    const forked = await open.sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    expect(await seen(RESEARCHER, forked.id)).toEqual(await seen(RESEARCHER));
    expect(await seen(WRITER, forked.id)).toEqual(await seen(WRITER));
    // The summary of the whole is the first event of the fork.
    expect(await summaryFor(RESEARCHER, forked.id)).toMatchObject({ text: 'summary 2', fromSeq: 0, toSeq: 6 });
    expect(await summarise(RESEARCHER, forked.id)).toMatchObject({ text: 'summary 3', fromSeq: 1, toSeq: 7 });
  });

  it('are kept by an export and an import, and the doctor finds nothing wrong', async () => {
    await summarise();
    await open.append(...turns(3, 4));
    await summarise(RESEARCHER);
    await open.sessions.forkSession({ ...KEY, newSessionId: 'fork' });
    const target = new InMemorySessionStorage({ clock: open.clock });
    await importSessions(target, exportSessions(open.storage));
    for (const storage of [open.storage, target]) {
      expect((await diagnose({ storage })).findings).toEqual([]);
    }
    const imported = new SessionService({ storage: target, clock: open.clock });
    const session = await imported.getSession(KEY);
    const view = toMessages(session ?? [], { format: 'openai', branch: RESEARCHER });
    expect(view.map(({ content }) => content)).toEqual(['[Previous Context Summary]:\nsummary 2', 'q4', 'a4']);
    await imported.close();
  });

  it('lose their text with a redaction, and no longer stand for anything', async () => {
    await summarise(RESEARCHER);
    const { alsoIn } = await open.sessions.redactEvent({ ...KEY, seq: 2, reason: 'on request' });
    expect(alsoIn).toEqual([7]);
    expect((await open.sessions.redactEvent({ ...KEY, seq: 3, reason: 'on request' })).alsoIn).toEqual([]);
    await open.sessions.redactEvent({ ...KEY, seq: 7, reason: 'on request' });
    expect(JSON.stringify(await open.log())).not.toContain('summary 1');
    expect(await summaryFor(RESEARCHER)).toBeUndefined();
    expect(await seen(RESEARCHER)).toEqual(['q1', '[redacted]', 'q2', 'r2']);
  });

  it('are refused for a branch that has no name', async () => {
    for (const branch of ['', ' ', ' root', 'a\nb']) {
      await expect(summarise(branch)).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'branch' });
      await expect(summaryFor(branch)).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'branch' });
      const listing = open.summaries.listSummaries({ ...KEY, branch });
      await expect(listing).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'branch' });
    }
  });
});

describe('The next summary of a branch', () => {
  it('reads what came after the one before, not the log', async () => {
    const counting = new CountingStorage(new InMemorySessionStorage());
    const sessions = new SessionService({ storage: counting.storage });
    const summaries = new SummarizerSessionManager({ sessions }, { keepRecentEvents: 2, autoSummarize: false });
    const session = await sessions.createSession(KEY);
    const append = (count: number) =>
      sessions.appendEvents({ session, events: Array.from({ length: count }, (_, n) => by('researcher', `r${n}`)) });
    for (let batch = 0; batch < 10; batch++) await append(90);
    const branch = RESEARCHER;
    expect(await summaries.createSessionSummary({ session, branch, force: true })).toMatchObject({ toSeq: 898 });
    await append(10);
    counting.taken();
    expect(await summaries.createSessionSummary({ session, branch, force: true })).toMatchObject({ toSeq: 909 });
    expect(counting.taken().events).toBeLessThan(40);
    await summaries.close();
    await sessions.close();
  });
});
