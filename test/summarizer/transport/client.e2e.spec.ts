import { type RemoteSummary, SessionsClient } from '../../../src/client/index.js';
import { RestApp, frameworks } from '../../rest/rest-app.js';
import { KEY, SESSION, ScriptedModel } from '../summarized-sessions.js';
import { appendTurns } from './append-turns.js';

const MANUAL = { autoSummarize: false, turns: 3, contentLength: 0, keepRecentEvents: 2, shutdownSeconds: 0.05 };

const texts = (summaries: RemoteSummary[]): string[] => summaries.map(({ text }) => text);

describe.each(frameworks)('SessionsClient summaries on %s', (framework) => {
  let app: RestApp;
  let client: SessionsClient;
  let model: ScriptedModel;

  beforeEach(async () => {
    model = new ScriptedModel();
    app = await RestApp.start(framework, { summarizer: { ...MANUAL, model } });
    client = new SessionsClient({ url: app.url });
  });

  afterEach(async () => {
    await app.close();
  });

  it('equal those on the server', async () => {
    await appendTurns(app.sessions, 1, 3);
    expect(await client.createSummary(KEY)).toBeUndefined();
    const created = await client.createSummary({ ...KEY, force: true });
    const { createTime: _, ...known } = JSON.parse(
      JSON.stringify(await app.summaries.getSessionSummary(KEY)),
    ) as RemoteSummary;
    expect(created).toMatchObject({ ...known, text: 'summary 1', toSeq: 4 });
    expect(await client.getSummary(KEY)).toEqual(created);
    await appendTurns(app.sessions, 4, 4);
    await app.summaries.createSessionSummary({ session: SESSION, force: true });
    expect(texts(await client.listSummaries(KEY))).toEqual(['summary 1', 'summary 2']);
    expect(texts(await client.listSummaries({ ...KEY, limit: 1 }))).toEqual(['summary 1']);
    expect(texts(await client.listSummaries({ ...KEY, afterSeq: created?.seq }))).toEqual(['summary 2']);
  });

  it('report a missing summary and a missing session', async () => {
    await expect(client.getSummary(KEY)).rejects.toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    await expect(client.createSummary(KEY)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await expect(client.listSummaries(KEY)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await appendTurns(app.sessions, 1, 1);
    expect(await client.getSummary(KEY)).toBeUndefined();
    expect(await client.listSummaries(KEY)).toEqual([]);
  });

  it('can take longer than other requests', async () => {
    client = new SessionsClient({ url: app.url, timeoutMs: 100 });
    await appendTurns(app.sessions, 1, 3);
    model.reply = () => new Promise((resolve) => setTimeout(() => resolve({ text: 'late' }), 300));
    expect(await client.createSummary({ ...KEY, force: true })).toMatchObject({ text: 'late' });
  });

  it('respect the timeout of the caller', async () => {
    await appendTurns(app.sessions, 1, 3);
    model.reply = () => new Promise(() => undefined);
    const creating = client.createSummary({ ...KEY, force: true, timeoutMs: 100 });
    await expect(creating).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('fail with a code if the model fails', async () => {
    await appendTurns(app.sessions, 1, 3);
    model.reply = () => Promise.reject(new Error('away'));
    await expect(client.createSummary({ ...KEY, force: true })).rejects.toMatchObject({
      status: 502,
      code: 'SUMMARY_FAILED',
    });
    expect(model.requests).toHaveLength(1);
  });
});

it('SessionsClient reports a server without summary routes as NOT_FOUND, not as a session without a summary', async () => {
  const app = await RestApp.start('Express');
  try {
    await appendTurns(app.sessions, 1, 1);
    await expect(new SessionsClient({ url: app.url }).getSummary(KEY)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  } finally {
    await app.close();
  }
});
