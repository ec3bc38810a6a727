import { leaseNameOf } from '../../../src/summarizer/summary-agenda.js';
import type { SummarizerOptions } from '../../../src/summarizer/index.js';
import { type Answer, RestApp } from '../../rest/rest-app.js';
import { HeldModel } from '../held-model.js';
import { KEY, ScriptedModel } from '../summarized-sessions.js';
import { PATH, appendTurns } from './append-turns.js';

const FAILED = { status: 502, body: { code: 'SUMMARY_FAILED' } };

describe('a summary requested over REST', () => {
  let app: RestApp;

  const start = async (model: ScriptedModel, options: SummarizerOptions = {}): Promise<void> => {
    const summarizer = { autoSummarize: false, keepRecentEvents: 2, model, ...options };
    app = await RestApp.start('Express', { summarizer });
    await appendTurns(app.sessions, 1, 3);
  };
  const summarise = (): Promise<Answer> => app.request('POST', `${PATH}/summary`, { force: true });

  afterEach(async () => {
    await app.close();
  });

  it('is written once for two concurrent requests', async () => {
    const model = new ScriptedModel();
    await start(model);
    const answers = await Promise.all([summarise(), summarise()]);
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['201', '204']);
    expect(model.requests).toHaveLength(1);
  });

  it('times out while another process holds the lease', async () => {
    const model = new ScriptedModel();
    await start(model, { timeoutSeconds: 1 });
    const request = { name: leaseNameOf(KEY), holder: 'another process', ttlMs: 60_000 };
    const lease = await app.storage.leases.acquire(request);
    expect(await summarise()).toMatchObject(FAILED);
    expect(model.requests).toEqual([]);
    if (lease) await app.storage.leases.release(lease);
    expect(await summarise()).toMatchObject({ status: 201 });
  });

  it('times out if the model does not answer', async () => {
    await start(new HeldModel(), { timeoutSeconds: 0.1 });
    expect(await summarise()).toMatchObject(FAILED);
  });

  it('fails when the app closes', async () => {
    const model = new HeldModel();
    await start(model, { shutdownSeconds: 0.1 });
    const requested = summarise();
    await model.called(1);
    await app.summaries.close();
    expect(await requested).toMatchObject(FAILED);
  });

  it('does not delay reads and writes', async () => {
    const model = new HeldModel();
    await start(model);
    const requested = summarise();
    await model.called(1);
    const event = { author: 'user', content: { role: 'user', parts: [{ text: 'And now?' }] } };
    expect(await app.request('POST', `${PATH}/events`, event, { 'if-match': '"6"' })).toMatchObject({ status: 201 });
    expect(await app.request('GET', `${PATH}/summary`)).toMatchObject({ status: 404 });
    model.answer();
    expect(await requested).toMatchObject({ status: 201, body: { text: 'summary 1', toSeq: 4, seq: 8 } });
    const stale = { 'if-match': '"7"' };
    expect(await app.request('POST', `${PATH}/events`, event, stale)).toMatchObject({ status: 201 });
  });
});
