import { Logger } from '@nestjs/common';
import { KEY, SESSION, ScriptedModel, user } from '../summarized-sessions.js';
import { type Answer, RestApp, frameworks } from '../../rest/rest-app.js';
import { PATH, appendTurns } from './append-turns.js';

const MANUAL = { autoSummarize: false, turns: 3, contentLength: 0, keepRecentEvents: 2 };

const textsIn = ({ body }: Answer): unknown[] => (body.summaries as { text: string }[]).map(({ text }) => text);

describe.each(frameworks)('the REST routes for summaries on %s', (framework) => {
  let app: RestApp;
  let model: ScriptedModel;

  beforeEach(async () => {
    model = new ScriptedModel();
    app = await RestApp.start(framework, { summarizer: { ...MANUAL, model } });
  });

  afterEach(async () => {
    await app.close();
  });

  const get = (path = '/summary'): Promise<Answer> => app.request('GET', PATH + path);
  const summarise = (body?: unknown): Promise<Answer> => app.request('POST', `${PATH}/summary`, body);

  it('return the summary, and whether it is in the view', async () => {
    await appendTurns(app.sessions, 1, 3);
    const created = await summarise({ force: true });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      sessionId: 'one',
      text: 'summary 1',
      seq: 7,
      fromSeq: 1,
      toSeq: 4,
      model: 'scripted',
      originalEventCount: 6,
      compressedEventCount: 3,
      compressionRatio: 50,
      inputTokens: 100,
      isInForce: true,
    });
    const read = await get();
    expect(read.status).toBe(200);
    expect(read.body).toEqual(created.body);
    expect(read.headers.get('cache-control')).toBe('no-store');
    expect(read.headers.get('etag')).toBeNull();
    const { body } = await app.request('GET', PATH);
    expect((body.events as { seq: number }[]).map(({ seq }) => seq)).toEqual([7, 5, 6]);
  });

  it('write a due summary, and with force one that is not due', async () => {
    await appendTurns(app.sessions, 1, 3);
    const notYet = await summarise();
    expect([notYet.status, notYet.text]).toEqual([204, '']);
    expect(model.requests).toEqual([]);
    await appendTurns(app.sessions, 4, 4);
    expect((await summarise({ force: false })).status).toBe(201);
    expect((await summarise({ force: true })).status).toBe(204);
    await app.sessions.appendEvent({ session: SESSION, event: user('and?') });
    await appendTurns(app.sessions, 5, 5);
    expect((await summarise({ force: true })).body).toMatchObject({ text: 'summary 2' });
  });

  it('list all summaries, page by page', async () => {
    await appendTurns(app.sessions, 1, 3);
    expect((await get('/summaries')).body).toEqual({ summaries: [], limit: 100 });
    for (const turn of [4, 5, 6]) {
      await summarise({ force: true });
      await appendTurns(app.sessions, turn, turn);
    }
    const all = await get('/summaries');
    expect(textsIn(all)).toEqual(['summary 1', 'summary 2', 'summary 3']);
    const [first, second, third] = all.body.summaries as { seq: number; isInForce: boolean }[];
    expect([first, second, third].map((each) => each?.isInForce)).toEqual([false, false, true]);
    expect(textsIn(await get('/summaries?limit=2'))).toEqual(['summary 1', 'summary 2']);
    expect(textsIn(await get(`/summaries?limit=2&afterSeq=${second?.seq}`))).toEqual(['summary 3']);
    expect(textsIn(await get('/summaries?limit=0'))).toEqual([]);
  });

  it('distinguish a missing summary from a missing session', async () => {
    for (const [method, path] of [
      ['GET', 'summary'],
      ['POST', 'summary'],
      ['GET', 'summaries'],
    ] as const) {
      const { status, body } = await app.request(method, `${PATH}/${path}`);
      expect([status, body.code]).toEqual([404, 'SESSION_NOT_FOUND']);
    }
    const session = await get();
    await appendTurns(app.sessions, 1, 1);
    const summary = await get();
    expect([summary.status, summary.body.code]).toEqual([404, 'SUMMARY_NOT_FOUND']);
    expect(summary.headers.get('content-type')).toContain('application/problem+json');
    expect(summary.body.detail).not.toBe(session.body.detail);
    await summarise({ force: true });
    await app.sessions.rewindSession({ ...KEY, toSeq: 0 });
    expect((await get()).body.code).toBe('SUMMARY_NOT_FOUND');
  });

  it.each([
    ['fails', () => Promise.reject(new Error('key sk-1234 at 10.0.0.5: "my secret"'))],
    ['returns an empty text', async () => ({ text: ' ' })],
    ['does not finish', async () => ({ text: 'Half of', unfinished: 'length' })],
  ])('report that a model %s, without its message, and change nothing', async (_what, reply) => {
    await appendTurns(app.sessions, 1, 3);
    model.reply = reply;
    const { status, body, text } = await summarise({ force: true });
    expect(status).toBe(502);
    expect(body).toEqual({
      type: 'about:blank',
      title: 'Bad Gateway',
      status: 502,
      detail: 'The model gave no summary. Nothing was changed; try again later.',
      code: 'SUMMARY_FAILED',
    });
    expect(text).not.toMatch(/sk-1234|10\.0\.0\.5|secret/);
    expect((await get()).status).toBe(404);
    expect(await app.sessions.getSession(KEY)).toMatchObject({ version: 6 });
    model.reply = async () => ({ text: 'at last' });
    expect((await summarise({ force: true })).body).toMatchObject({ text: 'at last', toSeq: 4 });
  });

  it('log the error of the model on the server', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error');
    try {
      await appendTurns(app.sessions, 1, 3);
      model.reply = () => Promise.reject(new Error('the quota is used up.\n'));
      await summarise({ force: true });
      expect(logged.mock.calls.flat().join('\n')).toContain(
        '"scripted" gave no summary: the quota is used up. Nothing',
      );
    } finally {
      logged.mockRestore();
    }
  });

  it.each([
    [{ force: 'yes' }, 400, 'force'],
    [{ forced: true }, 400, 'forced'],
    [[true], 400, 'body'],
    ['force=true', 415, undefined],
  ])('refuse the body %j', async (body, status, path) => {
    await appendTurns(app.sessions, 1, 3);
    const headers: Record<string, string> =
      typeof body === 'string' ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
    const answer = await app.request('POST', `${PATH}/summary`, body, headers);
    expect([answer.status, answer.body.path]).toEqual([status, path]);
    expect(model.requests).toEqual([]);
  });

  it.each(['limit=1001', 'limit=-1', 'limit=x', 'afterSeq=1.5', 'cursor=x'])('refuse ?%s', async (query) => {
    await appendTurns(app.sessions, 1, 1);
    expect((await get(`/summaries?${query}`)).body.code).toBe('INVALID_INPUT');
  });

  it('return the numbers of a summary by the app only if they are valid', async () => {
    await appendTurns(app.sessions, 1, 1);
    const compaction = { fromSeq: 1, toSeq: 2, originalEventCount: 1.5, inputTokens: -1, durationMs: 'long', model: 7 };
    const content = { role: 'user', parts: [{ text: 'They met' }] };
    await app.sessions.appendEvent({
      session: SESSION,
      event: { author: 'system', content, actions: { compaction: compaction as never } },
    });
    expect((await get()).body).toMatchObject({ text: 'They met', originalEventCount: 0, compressionRatio: 0 });
    expect(Object.keys((await get()).body)).not.toEqual(expect.arrayContaining(['inputTokens']));
  });
});

it('the REST routes for summaries use the configured path', async () => {
  const app = await RestApp.start('Express', { path: 'api/v1', summarizer: MANUAL });
  try {
    await appendTurns(app.sessions, 1, 3);
    expect((await app.request('GET', `/api/v1${PATH}/summaries`)).status).toBe(200);
    expect((await app.request('GET', `${PATH}/summaries`)).status).toBe(404);
  } finally {
    await app.close();
  }
});
