import { isSummary } from '../../src/adapter.js';
import { type LoggedEvent, givenRanges } from '../../src/index.js';
import { type MessageFormat, toMessages } from '../../src/agents/index.js';
import {
  ExtractiveSummaryModel,
  SummarizerSessionManager,
  withSummaryAsInstruction,
} from '../../src/summarizer/index.js';
import { storeOfEachKind } from '../support/stores.js';
import { inMemory } from './in-memory.js';
import { KEY, SESSION, SummarizedSessions, agent, turns } from './summarized-sessions.js';

const OPTIONS = { segments: 3, keepRecentEvents: 2, autoSummarize: false };
const FORMATS: readonly MessageFormat[] = ['openai', 'anthropic', 'google', 'ai-sdk'];

/** Writes so many summaries, each of two turns, and gives the views after each. */
async function viewsAfter(count: number, open: SummarizedSessions): Promise<LoggedEvent[][]> {
  const views: LoggedEvent[][] = [];
  for (let round = 0; round < count; round++) {
    await open.append(...turns(2 * round + 1, 2 * round + 2));
    await open.summaries.createSessionSummary({ session: SESSION, force: true });
    views.push([...((await open.sessions.getSession(KEY))?.events ?? [])]);
  }
  return views;
}

function partsOf(view: readonly LoggedEvent[]): (string | undefined)[] {
  return (view.find(isSummary)?.content?.parts ?? []).map(({ text }) => text);
}

function next(text: string): string {
  return `\nSummary of what came next:\n${text}`;
}

function systemOf(events: LoggedEvent[]): string {
  return withSummaryAsInstruction({ events }, 'Be brief.').system;
}

describe.each(storeOfEachKind)('parts of a summary on $name', (store) => {
  it('stay as they are while one is added, until the summary is full and becomes one part', async () => {
    const open = await SummarizedSessions.open(store, OPTIONS);
    try {
      const views = await viewsAfter(5, open);
      const first = 'Summary of the conversation so far:\nsummary 1';
      expect(views.map(partsOf)).toEqual([
        [first],
        [first, next('summary 2')],
        [first, next('summary 2'), next('summary 3')],
        ['Summary of the conversation so far:\nsummary 4'],
        ['Summary of the conversation so far:\nsummary 4', next('summary 5')],
      ]);
      const all = await open.summaries.listSummaries(KEY);
      expect(all.map(({ text, segments, fromSeq, toSeq }) => ({ text, segments, fromSeq, toSeq }))).toEqual([
        { text: 'summary 1', segments: 1, fromSeq: 1, toSeq: 2 },
        { text: 'summary 1\nsummary 2', segments: 2, fromSeq: 1, toSeq: 7 },
        { text: 'summary 1\nsummary 2\nsummary 3', segments: 3, fromSeq: 1, toSeq: 12 },
        { text: 'summary 4', segments: 1, fromSeq: 1, toSeq: 17 },
        { text: 'summary 4\nsummary 5', segments: 2, fromSeq: 1, toSeq: 22 },
      ]);
    } finally {
      await open.destroy();
    }
  });

  it('are known to be what a model was given before, until all become one part', async () => {
    const open = await SummarizedSessions.open(store, OPTIONS);
    const answered: number[] = [];
    const stable = async (): Promise<number | undefined> => {
      const { view } = await open.sessions.explainView(KEY);
      return view.stableUntilSeq;
    };
    const ask = async (): Promise<void> => {
      const { events = [] } = (await open.sessions.getSession(KEY)) ?? {};
      const modelRequest = givenRanges(events);
      const { seq } = await open.sessions.appendEvent({ session: SESSION, event: { ...agent('yes'), modelRequest } });
      answered.push(seq);
    };
    try {
      for (let round = 0; round < 4; round++) {
        await viewsAfter(1, open);
        await ask();
      }
      const summaries = (await open.summaries.listSummaries(KEY)).map(({ seq }) => seq);
      const changes = await Promise.all(
        answered.slice(1).map(async (seq) => (await open.sessions.getModelRequest({ ...KEY, seq }))?.change),
      );
      expect(changes.map((change) => change?.stableUntilSeq)).toEqual([summaries[0], summaries[1], 0]);
      await viewsAfter(1, open);
      expect(await stable()).toBe(summaries[3]);
      await viewsAfter(1, open);
      expect(await stable()).toBe(summaries[3]);
      await viewsAfter(1, open);
      expect(await stable()).toBe(0);
    } finally {
      await open.destroy();
    }
  });

  it('are those of the summary in force after a rewind, and in a fork', async () => {
    const open = await SummarizedSessions.open(store, OPTIONS);
    try {
      await viewsAfter(2, open);
      const [first] = await open.summaries.listSummaries(KEY);
      await open.sessions.rewindSession({ ...KEY, toSeq: first?.seq ?? 0 });
      await open.append(...turns(7, 8));
      await open.summaries.createSessionSummary({ session: SESSION, force: true });
      const view = await open.sessions.getSession(KEY);
      expect(partsOf(view?.events ?? [])).toEqual([
        'Summary of the conversation so far:\nsummary 1',
        '\nSummary of what came next:\nsummary 3',
      ]);
      const fork = await open.sessions.forkSession({ ...KEY, newSessionId: 'two' });
      await open.sessions.appendEvents({ session: fork, events: turns(9, 10) });
      await open.summaries.createSessionSummary({ session: fork, force: true });
      const forked = await open.sessions.getSession({ ...KEY, sessionId: 'two' });
      expect(partsOf(forked?.events ?? [])).toEqual([
        ...partsOf(view?.events ?? []),
        '\nSummary of what came next:\nsummary 4',
      ]);
    } finally {
      await open.destroy();
    }
  });
});

describe('parts of a summary', () => {
  it.each(FORMATS)(
    'begin the messages of %s as before, byte for byte, so that a cache of prompts knows them',
    async (format) => {
      const open = await SummarizedSessions.open(inMemory, OPTIONS);
      try {
        const [one = [], two = [], three = [], again = []] = await viewsAfter(4, open);
        const messagesOf = (view: readonly LoggedEvent[]): string => JSON.stringify(toMessages(view, { format }));
        const beginningOf = (view: readonly LoggedEvent[]): string =>
          messagesOf(view.slice(0, 1)).replace(/["\]}]+$/, '');
        expect(messagesOf(two).startsWith(beginningOf(one))).toBe(true);
        expect(messagesOf(three).startsWith(beginningOf(two))).toBe(true);
        expect(messagesOf(again).startsWith(beginningOf(three))).toBe(false);
        expect(systemOf(three).startsWith(systemOf(two))).toBe(true);
      } finally {
        await open.destroy();
      }
    },
  );

  it('are asked of a model with a task of their own, which has the summary so far', async () => {
    const prompt = 'All of it: {previous_summary} {conversation_text}';
    const segmentPrompt = 'Go on: {previous_summary} {conversation_text}';
    const open = await SummarizedSessions.open(inMemory, { ...OPTIONS, segments: 2, prompt, segmentPrompt });
    try {
      await viewsAfter(3, open);
      expect(open.model.requests.map((request) => [request.prompt.split(':')[0], request.isSegment])).toEqual([
        ['All of it', false],
        ['Go on', true],
        ['All of it', false],
      ]);
      expect(open.model.requests[1]?.prompt).toContain('\nsummary 1\n');
      const versions = (await open.summaries.listSummaries(KEY)).map(({ promptVersion }) => promptVersion);
      expect(versions[0]).toBe(versions[2]);
      expect(versions[0]).not.toBe(versions[1]);
    } finally {
      await open.destroy();
    }
  });

  it('do not repeat a heading that the model repeats', async () => {
    const open = await SummarizedSessions.open(inMemory, OPTIONS);
    try {
      open.model.reply = async () => ({
        text: 'Summary of what came next:\nSummary of the conversation so far:\n\nall well',
      });
      const [, two = []] = await viewsAfter(2, open);
      expect(partsOf(two)).toEqual([
        'Summary of the conversation so far:\nall well',
        '\nSummary of what came next:\nall well',
      ]);
    } finally {
      await open.destroy();
    }
  });

  it('by extract have only sentences of their own events', async () => {
    const open = await SummarizedSessions.open(inMemory, OPTIONS);
    const model = new ExtractiveSummaryModel();
    const summaries = new SummarizerSessionManager({ sessions: open.sessions }, { ...OPTIONS, model });
    try {
      for (const number of [4711, 4712]) {
        await open.append(
          ...turns(1, 1),
          { author: 'user', content: { role: 'user', parts: [{ text: `Order ${number} is late.` }] } },
          ...turns(2, 2),
        );
        await summaries.createSessionSummary({ session: SESSION, force: true });
      }
      const [first = '', second = ''] = partsOf((await open.log()).filter(isSummary).slice(-1));
      expect(first).toContain('Order 4711');
      expect(second).toContain('Order 4712');
      expect(second).not.toContain('Order 4711');
    } finally {
      await summaries.close();
      await open.destroy();
    }
  });
});
