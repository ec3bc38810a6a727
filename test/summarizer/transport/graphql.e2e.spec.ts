import { GraphqlApp } from '../../graphql/graphql-app.js';
import { KEY, SESSION, ScriptedModel } from '../summarized-sessions.js';
import { appendTurns } from './append-turns.js';

const S = 'appName: "shop", userId: "ann", sessionId: "one"';
const MANUAL = { autoSummarize: false, turns: 3, contentLength: 0, keepRecentEvents: 2 };

describe('the GraphQL fields for summaries', () => {
  let app: GraphqlApp;
  let model: ScriptedModel;

  beforeEach(async () => {
    model = new ScriptedModel();
    app = await GraphqlApp.start({ summarizer: { ...MANUAL, model } });
  });

  afterEach(async () => {
    await app.close();
  });

  it('return the summary, and whether it is in the view', async () => {
    await appendTurns(app.sessions, 1, 3);
    const all = [
      'sessionId text seq fromSeq toSeq createTime model promptVersion originalEventCount compressedEventCount',
      'compressionRatio inputTokens outputTokens durationMs isInForce',
    ].join(' ');
    const created = await app.ask(`mutation { createSessionSummary(${S}, force: true) { ${all} } }`);
    expect(created.errors).toEqual([]);
    expect(created.data.createSessionSummary).toMatchObject({
      text: 'summary 1',
      seq: 7,
      fromSeq: 1,
      toSeq: 4,
      compressionRatio: 50,
      outputTokens: 10,
      isInForce: true,
    });
    const { data } = await app.ask(`{ sessionSummary(${S}) { ${all} } sessionSummaries(${S}) { ${all} } }`);
    expect(data.sessionSummary).toEqual(created.data.createSessionSummary);
    expect(data.sessionSummaries).toEqual([created.data.createSessionSummary]);
    expect(Object.keys(data.sessionSummary as object)).toHaveLength(15);
  });

  it.each(['', ', force: null', ', force: false'])('write only a due summary with the argument "%s"', async (force) => {
    await appendTurns(app.sessions, 1, 3);
    const create = (): Promise<unknown> =>
      app.ask(`mutation { createSessionSummary(${S}${force}) { text } }`).then(({ data }) => data);
    expect(await create()).toEqual({ createSessionSummary: null });
    await appendTurns(app.sessions, 4, 4);
    expect(await create()).toEqual({ createSessionSummary: { text: 'summary 1' } });
  });

  it('list all summaries, page by page', async () => {
    await appendTurns(app.sessions, 1, 3);
    for (const turn of [4, 5]) {
      await app.summaries.createSessionSummary({ session: SESSION, force: true });
      await appendTurns(app.sessions, turn, turn);
    }
    const ask = async (how: string): Promise<unknown> =>
      (await app.ask(`{ sessionSummaries(${S}, ${how}) { text isInForce } }`)).data.sessionSummaries;
    const [first, second] = [
      { text: 'summary 1', isInForce: false },
      { text: 'summary 2', isInForce: true },
    ];
    expect(await ask('first: 10')).toEqual([first, second]);
    expect(await ask('first: 1')).toEqual([first]);
    expect(await ask('first: null, afterSeq: 7')).toEqual([second]);
  });

  it('distinguish a missing session from a missing summary', async () => {
    const missing = await app.ask(`{ sessionSummary(${S}) { text } }`);
    expect(missing.errors[0]?.extensions).toEqual({ code: 'SESSION_NOT_FOUND', status: 404 });
    await appendTurns(app.sessions, 1, 1);
    expect(await app.ask(`{ sessionSummary(${S}) { text } }`)).toMatchObject({
      errors: [],
      data: { sessionSummary: null },
    });
  });

  it('report a failure of the model without its message, and change nothing', async () => {
    await appendTurns(app.sessions, 1, 3);
    model.reply = () => Promise.reject(new Error('key sk-1234'));
    const { errors, text } = await app.ask(`mutation { createSessionSummary(${S}, force: true) { text } }`);
    expect(errors[0]).toMatchObject({
      message: 'The model gave no summary. Nothing was changed; try again later.',
      extensions: { code: 'SUMMARY_FAILED', status: 502 },
    });
    expect(text).not.toContain('sk-1234');
    expect(await app.sessions.getSession(KEY)).toMatchObject({ version: 6 });
  });

  it.each([
    [', first: 1000', 'LIMIT_EXCEEDED'],
    [', first: 100', undefined],
    ['', undefined],
  ])('have a query cost that depends on the argument "%s"', async (first, code) => {
    await appendTurns(app.sessions, 1, 1);
    const named = Array.from({ length: 12 }, (_, index) => `a${index}: sessionSummaries(${S}${first}) { text seq }`);
    const { errors } = await app.ask(`{ ${named.join(' ')} }`);
    expect(errors[0]?.extensions.code).toBe(code);
  });

  it('refuse more than a page', async () => {
    await appendTurns(app.sessions, 1, 1);
    const { errors } = await app.ask(`{ sessionSummaries(${S}, first: 1001) { text } }`);
    expect(errors[0]?.extensions).toMatchObject({ code: 'INVALID_INPUT', path: 'first' });
  });

  it('return invalid numbers of a summary by the app as 0 or null', async () => {
    await appendTurns(app.sessions, 1, 1);
    const compaction = { fromSeq: 1, toSeq: 2, originalEventCount: 1.5, inputTokens: 1e300, durationMs: 'long' };
    await app.sessions.appendEvent({
      session: SESSION,
      event: { author: 'system', actions: { compaction: compaction as never } },
    });
    const { data, errors } = await app.ask(`{ sessionSummary(${S}) { originalEventCount inputTokens durationMs } }`);
    expect(errors).toEqual([]);
    expect(data.sessionSummary).toEqual({ originalEventCount: 0, inputTokens: null, durationMs: null });
  });
});
