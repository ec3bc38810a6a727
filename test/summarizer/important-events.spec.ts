import { Logger } from '@nestjs/common';
import { testStores } from '../support/stores.js';
import { HeldModel } from './held-model.js';
import { KEY, SESSION, ScriptedModel, SummarizedSessions, agent, turns, user } from './summarized-sessions.js';

const OPTIONS = { importantLength: 100, keepRecentEvents: 0 };
const pasted = user('x'.repeat(101));

describe.each(testStores)('an event that makes a summary due by itself, on $name', (store) => {
  let open: SummarizedSessions;
  afterEach(async () => {
    await open.destroy();
    jest.restoreAllMocks();
  });

  it('is not forgotten because others came before its turn', async () => {
    const model = new HeldModel();
    open = await SummarizedSessions.open(store, { ...OPTIONS, concurrency: 1 }, model);
    await open.sessions.createSession({ ...KEY, sessionId: 'other' });
    await open.sessions.appendEvent({ session: { ...SESSION, id: 'other' }, event: pasted });
    await open.sessions.appendEvent({ session: { ...SESSION, id: 'other' }, event: agent('thanks') });
    await model.asked(1);
    await open.append(pasted, agent('I have read it'));
    await open.sessions.whenIdle();
    model.answer();
    await model.asked(2);
    model.answer();
    await open.settle();
    expect(await open.view()).toEqual([expect.stringMatching(/^= summary/)]);
  });

  it('is not forgotten because the model failed', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const model = new ScriptedModel(async () => {
      throw new Error('it is away');
    });
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

  it('makes one summary due, and no other one after it', async () => {
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
