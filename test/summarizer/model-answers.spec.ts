import { Logger } from '@nestjs/common';
import type { SummaryAnswer } from '../../src/summarizer/index.js';
import { cleanText } from '../../src/summarizer/summary-writer.js';
import { firstStore } from '../support/stores.js';
import { KEY, SESSION, ScriptedModel, SummarizedSessions, turns } from './summarized-sessions.js';

const HEADING = 'Summary of the conversation so far:\n';

describe.each(firstStore)('the answer of a model on $name', (store) => {
  let open: SummarizedSessions;

  async function answering(answer: unknown): Promise<void> {
    const model = new ScriptedModel(async () => answer as SummaryAnswer);
    open = await SummarizedSessions.open(
      store,
      { keepRecentEvents: 2, maxSummaryLength: 40, autoSummarize: false },
      model,
    );
    await open.append(...turns(1, 2));
  }

  const summarise = () => open.summaries.createSessionSummary({ session: SESSION, force: true });

  afterEach(async () => {
    await open.destroy();
    jest.restoreAllMocks();
  });

  it.each([
    ['plain text', { text: 'Ann wants a chair.' }, 'Ann wants a chair.'],
    ['surrounding white space', { text: ' \n Ann \t wants\n' }, 'Ann \t wants'],
    ['control characters', { text: 'A\u0000nn\u001B[31m wa\u0007nts\u0085' }, 'Ann[31m wants'],
    ['line breaks of all kinds', { text: 'a\r\nb\rc\nd' }, 'a\nb\nc\nd'],
    ['a lone surrogate', { text: 'Ann \uD83D' }, 'Ann \uFFFD'],
    ['emoji and a flag', { text: '👨‍👩‍👧 🇩🇪' }, '👨‍👩‍👧 🇩🇪'],
    ['a text that is too long', { text: `${'x'.repeat(30)} ${'y'.repeat(30)}` }, `${'x'.repeat(30)}…`],
    ['the heading', { text: `${HEADING}Ann` }, 'Ann'],
    ['a repeated heading', { text: `\n${HEADING}${HEADING} Ann` }, 'Ann'],
    ['the heading 25,000 times', { text: `${HEADING.repeat(25_000)}Ann` }, 'Ann'],
    ['a fence and placeholders', { text: '==== {conversation_text} $& ====' }, '==== {conversation_text} $& ===='],
    ['actions', { text: '{"actions":{"stateDelta":{"a":1}}}' }, '{"actions":{"stateDelta":{"a":1}}}'],
    ['extra properties', { text: 'Ann', stateDelta: { a: 1 }, actions: { stateDelta: { a: 1 } } }, 'Ann'],
    ['null for what is missing', { text: 'Ann', unfinished: null, inputTokens: null }, 'Ann'],
    ['invalid token counts', { text: 'Ann', inputTokens: Number.NaN, outputTokens: 'many' }, 'Ann'],
  ])('is used as text only: %s', async (_title, answer, text) => {
    await answering(answer);
    const before = await open.sessions.getSession(KEY);
    const summary = await summarise();
    expect(summary?.text).toBe(text);
    expect((await open.summaries.getSessionSummary(KEY))?.text).toBe(text);
    expect(await open.view()).toEqual([`= ${text}`, 'q2', 'a2']);
    const after = await open.sessions.getSession(KEY);
    expect(after?.state).toEqual(before?.state);
    expect(after?.lastUpdateTime).toBe(before?.lastUpdateTime);
    const { actions } = (await open.log()).at(-1) ?? {};
    expect(actions?.stateDelta).toEqual({});
    expect(summary).toMatchObject({ inputTokens: undefined, outputTokens: undefined });
  });

  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'its answer was empty'],
    ['null', null, 'its answer was empty'],
    ['an object without text', {}, 'its answer was empty'],
    ['an empty text', { text: '' }, 'its answer was empty'],
    ['white space', { text: ' \n\t\u00A0\u3000' }, 'its answer was empty'],
    ['invisible characters', { text: '\u0000\u200B\u2060\uFEFF' }, 'its answer was empty'],
    ['the heading alone', { text: HEADING }, 'its answer was empty'],
    ['the heading alone, 25,000 times', { text: HEADING.repeat(25_000) }, 'its answer was empty'],
    ['a number', { text: 4711 }, 'its answer was empty'],
    ['a string', 'Ann wants a chair.', 'it answered with a string, where { text } is wanted'],
    ['an unfinished answer', { text: 'Ann wants', unfinished: 'length' }, 'it did not finish (length)'],
  ])('stores no summary if it is empty or unfinished: %s', async (_title, answer, reason) => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    await answering(answer);
    const before = await open.log();
    await expect(summarise()).rejects.toMatchObject({
      code: 'SUMMARY_FAILED',
      message: expect.stringContaining(reason),
    });
    expect(await open.log()).toEqual(before);
    expect(await open.view()).toEqual(['q1', 'a1', 'q2', 'a2']);
  });
});

describe('cleanText', () => {
  it('returns nothing if the maximum length is too small', () => {
    expect(cleanText('Incomprehensibilities', 1)).toBeUndefined();
    expect(cleanText('👨‍👩‍👧', 3)).toBeUndefined();
    expect(cleanText('A', 1)).toBe('A');
  });
});
