import { Logger } from '@nestjs/common';
import type { SummaryAnswer, SummaryRequest } from '../../src/summarizer/models/summary-model.js';
import { firstStore, storeOfEachKind } from '../support/stores.js';
import { HeldModel } from './held-model.js';
import {
  KEY,
  SESSION,
  ScriptedModel,
  SummarizedSessions,
  agent,
  answer,
  call,
  turns,
  user,
} from './summarized-sessions.js';

const OPTIONS = { importantLength: 100, keepRecentEvents: 0 };
const pasted = user('x'.repeat(101));

function unavailableModel(): ScriptedModel {
  return new ScriptedModel(async () => {
    throw new Error('unavailable');
  });
}

let open: SummarizedSessions;

afterEach(async () => {
  await open.destroy();
  jest.restoreAllMocks();
});

describe.each(firstStore)('an important event on $name', (store) => {
  it('triggers the summary even if later events are appended before it is written', async () => {
    const model = new HeldModel();
    open = await SummarizedSessions.open(store, { ...OPTIONS, concurrency: 1 }, model);
    await open.sessions.createSession({ ...KEY, sessionId: 'other' });
    await open.sessions.appendEvent({ session: { ...SESSION, id: 'other' }, event: pasted });
    await open.sessions.appendEvent({ session: { ...SESSION, id: 'other' }, event: agent('thanks') });
    await model.called(1);
    await open.append(pasted, agent('I have read it'));
    await open.sessions.whenIdle();
    model.answer();
    await model.called(2);
    model.answer();
    await open.settle();
    expect(await open.view()).toEqual([expect.stringMatching(/^= summary/)]);
  });

  it('triggers the summary at any position in a batch', async () => {
    open = await SummarizedSessions.open(store, OPTIONS);
    const session = await open.sessions.createSession({ ...KEY, sessionId: 'other' });
    await open.sessions.appendEvents({ session, events: [...turns(1, 2), pasted, agent('I have read it')] });
    await open.settle();
    const read = await open.sessions.getSession({ ...KEY, sessionId: 'other' });
    expect(read?.events.filter(({ actions }) => actions.compaction)).toHaveLength(1);
  });

  it('triggers the summary even if the model fails at first', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const model = unavailableModel();
    open = await SummarizedSessions.open(store, OPTIONS, model);
    await open.append(pasted);
    await open.settle();
    await open.append(agent('I have read it'));
    await open.settle();
    model.reply = async () => ({ text: 'back' });
    open.clock.advanceSeconds(61);
    expect(await open.summaries.sweep()).toBe(1);
    await open.settle();
    expect(await open.view()).toEqual(['= back']);
    expect(model.requests).toHaveLength(2);
  });

  it('makes a requested summary due, also after later events', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const model = unavailableModel();
    open = await SummarizedSessions.open(store, OPTIONS, model);
    await open.append(pasted, agent('I have read it'));
    await open.settle();
    model.reply = async () => ({ text: 'back' });
    expect(await open.summaries.createSessionSummary({ session: SESSION })).toMatchObject({ text: 'back' });
    expect(await open.summaries.createSessionSummary({ session: SESSION })).toBeUndefined();
  });

  it('triggers a summary after a failure of the model and a forced summary', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const model = unavailableModel();
    open = await SummarizedSessions.open(store, OPTIONS, model);
    await open.append(pasted);
    await open.settle();
    model.reply = async () => ({ text: 'back' });
    await open.append(agent('I have read it'));
    await open.summaries.createSessionSummary({ session: SESSION, force: true });
    await open.append(...turns(1, 2), pasted, agent('I have read it, too'));
    await open.settle();
    expect(model.requests).toHaveLength(2);
    open.clock.advanceSeconds(61);
    await open.summaries.sweep();
    await open.settle();
    expect(await open.view()).toEqual(['= back']);
    expect(model.requests).toHaveLength(3);
  });

  it('triggers the summary after a pending call has been answered', async () => {
    const model = new ScriptedModel();
    open = await SummarizedSessions.open(store, OPTIONS, model);
    await open.append(call('slow'), ...turns(1, 2));
    expect(await open.summaries.createSessionSummary({ session: SESSION, force: true })).toBeUndefined();
    await open.append(pasted, agent('I have read it'), answer('slow'), ...turns(3, 3));
    await open.settle();
    expect(model.requests).toHaveLength(0);
    open.clock.advanceSeconds(61);
    await open.summaries.sweep();
    await open.settle();
    expect(await open.view()).toEqual(['= summary 1']);
  });

  it('triggers only one summary', async () => {
    const model = new ScriptedModel(async () => ({ text: 's'.repeat(200) }));
    open = await SummarizedSessions.open(store, { ...OPTIONS, keepRecentEvents: 2 }, model);
    await open.append(...turns(1, 2), pasted, agent('I have read it'));
    await open.settle();
    await open.append(...turns(3, 5));
    await open.settle();
    open.clock.advanceSeconds(61);
    await open.summaries.sweep();
    await open.settle();
    expect(model.requests).toHaveLength(1);
  });
});

describe.each(storeOfEachKind)('an important event that several processes see, on $name', (store) => {
  it('triggers the summary after a restart, and its agenda entry is then removed', async () => {
    const model = new ScriptedModel(untilAborted);
    open = await SummarizedSessions.open(store, { ...OPTIONS, shutdownSeconds: 0 }, model);
    await open.append(pasted, agent('I have read it'));
    await open.summaries.close();
    model.reply = async () => ({ text: 'after the start' });
    const next = open.restarted(OPTIONS);
    await next.append(agent('and something else'));
    next.clock.advanceSeconds(61);
    expect(await next.summaries.sweep()).toBe(1);
    await next.settle();
    expect(await next.view()).toEqual(['= after the start']);

    next.clock.advanceSeconds(600);
    expect(await next.summaries.sweep()).toBe(1);
    await next.settle();
    next.clock.advanceSeconds(600);
    expect(await next.storage.agenda.due(10)).toEqual([]);
    await next.destroy();
  });

  it('triggers no summary in other processes after it was rewound', async () => {
    const model = new ScriptedModel(untilAborted);
    open = await SummarizedSessions.open(store, { ...OPTIONS, shutdownSeconds: 0 }, model);
    await open.append(...turns(1, 1), pasted, agent('I have read it'));
    await open.summaries.close();
    const next = open.restarted(OPTIONS);
    await next.sessions.rewindSession({ ...KEY, toSeq: 2 });
    await next.append(...turns(2, 2));
    const { length } = model.requests;
    next.clock.advanceSeconds(61);
    await next.summaries.sweep();
    await next.settle();
    expect(model.requests).toHaveLength(length);
    await next.destroy();
  });
});

/** A model that answers only with an error after an abort. */
function untilAborted(_: SummaryRequest, signal: AbortSignal): Promise<SummaryAnswer> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
}
