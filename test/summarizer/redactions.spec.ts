import { storeOfEachEncoding, storeOfEachKind } from '../support/stores.js';
import { HeldModel } from './held-model.js';
import { KEY, SESSION, SummarizedSessions, agent, turns, user } from './summarized-sessions.js';

const SECRET = 'canary-4711';
const BRANCH = 'root.researcher';

describe.each(storeOfEachKind)('a redaction while a summary is written, on $name', (store) => {
  let model: HeldModel;
  let open: SummarizedSessions;

  async function start(options: Parameters<typeof SummarizedSessions.open>[1]): Promise<void> {
    model = new HeldModel();
    const { reply } = model;
    // It quotes what it was asked.
    model.reply = async (request, signal) => {
      await reply(request, signal);
      return { text: request.conversation.map(({ text }) => text).join(' ') };
    };
    open = await SummarizedSessions.open(store, { keepRecentEvents: 2, ...options }, model);
  }

  afterEach(async () => {
    model.answer();
    await open.destroy();
  });

  const redact = (seq: number, reader = open) => reader.sessions.redactEvent({ ...KEY, seq, reason: 'a card number' });

  /** Lets the model answer what it was asked before and after. */
  async function answerBoth(): Promise<void> {
    model.answer();
    await model.called(2);
    model.answer();
    await open.settle();
  }

  async function expectGone(): Promise<void> {
    const texts = JSON.stringify(await open.log());
    expect(texts).toContain('[redacted]');
    expect(texts).not.toContain(SECRET);
    expect(model.requests).toHaveLength(2);
  }

  it('lets no automatic summary bring back what was said: it is made again', async () => {
    await start({ events: 7 });
    await open.append(user(SECRET), agent('a1'), ...turns(2, 4));
    await model.called(1);
    expect((await redact(1)).alsoIn).toEqual([]);
    await answerBoth();
    await expectGone();
    expect(await open.view()).toEqual(['= [redacted] a1 q2 a2 q3 a3', 'q4', 'a4', '9']);
    expect(open.summaries.counts).toMatchObject({ stored: 1, failed: 0 });
  });

  it('by another process does the same', async () => {
    await start({ events: 7 });
    const other = open.restarted({ autoSummarize: false });
    await open.append(user(SECRET), agent('a1'), ...turns(2, 4));
    await model.called(1);
    await redact(1, other);
    await answerBoth();
    await expectGone();
    await other.destroy();
  });

  it('leaves a session due that one event made due', async () => {
    await start({ importantLength: 100, keepRecentEvents: 0 });
    await open.append(user(SECRET.padEnd(101, '.')));
    await model.called(1);
    await redact(1);
    await answerBoth();
    await expectGone();
    expect(await open.view()).toEqual(['= [redacted]']);
  });

  it('lets a requested summary be made again', async () => {
    await start({ autoSummarize: false });
    await open.append(user(SECRET), agent('a1'), ...turns(2, 3));
    const asked = open.summaries.createSessionSummary({ session: SESSION, force: true });
    await model.called(1);
    await redact(1);
    await answerBoth();
    expect((await asked)?.text).toContain('[redacted] a1');
    await expectGone();
  });

  it('lets a summary of a branch be made again', async () => {
    await start({ autoSummarize: false });
    const said = [SECRET, 'r2', 'r3', 'r4'].map((text) => ({ ...agent(text), branch: BRANCH }));
    await open.append(user('q1'), ...said);
    const asked = open.summaries.createSessionSummary({ session: SESSION, branch: BRANCH, force: true });
    await model.called(1);
    await redact(2);
    await answerBoth();
    expect((await asked)?.text).toContain('[redacted]');
    await expectGone();
  });

  it('of the summary before it lets the next one be made again without it', async () => {
    await start({ autoSummarize: false });
    await open.append(user(SECRET), agent('a1'), ...turns(2, 3));
    const first = open.summaries.createSessionSummary({ session: SESSION, force: true });
    await model.called(1);
    model.answer();
    const { seq = 0 } = (await first) ?? {};
    await open.append(...turns(4, 5));
    expect((await redact(1)).alsoIn).toEqual([seq]);
    const next = open.summaries.createSessionSummary({ session: SESSION, force: true });
    await model.called(2);
    await redact(seq);
    model.answer();
    await model.called(3);
    expect(model.requests[1]?.previousSummary).toContain(SECRET);
    expect(JSON.stringify(model.requests[2])).not.toContain(SECRET);
    model.answer();
    expect(await next).toBeDefined();
  });
});

describe.each(storeOfEachEncoding)('after a redaction, on $name', (store) => {
  it('a summary of what was said before is refused, and one of what is left is not', async () => {
    const open = await SummarizedSessions.open(store, { autoSummarize: false });
    await open.append(...turns(1, 2));
    await open.sessions.redactEvent({ ...KEY, seq: 1, reason: 'a card number' });
    const summary = { author: 'system', actions: { compaction: { fromSeq: 1, toSeq: 2 } } };
    const appendAfter = (expectedMarksSeq: number, text: string) =>
      open.sessions.append({ session: SESSION, event: { ...agent(text), ...summary }, expectedMarksSeq });
    await expect(appendAfter(0, SECRET)).rejects.toMatchObject({ code: 'STALE_SESSION' });
    await appendAfter(5, 'left');
    expect(await open.view()).toEqual(['left', 'q2', 'a2', '5']);
    await open.destroy();
  });
});
