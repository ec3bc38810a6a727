import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type EventInput,
  InMemorySessionStorage,
  SessionService,
  SessionTitles,
  type SessionTitler,
  SessionsModule,
  type TitleRequest,
} from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };
const QUESTION: EventInput = { author: 'user', content: { role: 'user', parts: [{ text: 'Where is order 7?' }] } };
const ANSWER: EventInput = { author: 'agent', content: { role: 'model', parts: [{ text: 'On its way.' }] } };
const CALL: EventInput = {
  author: 'agent',
  content: { role: 'model', parts: [{ functionCall: { id: 'c', name: 'find', args: {} } }] },
};

const firstText = ({ session }: TitleRequest): string | undefined => session.events[0]?.content?.parts?.[0]?.text;

const titleIn = async (sessions: SessionService): Promise<string | undefined> =>
  (await sessions.getSession(KEY))?.metadata.title;

function deferred(): { readonly promise: Promise<string>; readonly resolve: (title: string) => void } {
  const waiting: ((title: string) => void)[] = [];
  const promise = new Promise<string>((settle) => waiting.push(settle));
  return { promise, resolve: (title) => waiting.forEach((settle) => settle(title)) };
}

async function append(sessions: SessionService, ...events: readonly EventInput[]): Promise<void> {
  for (const event of events) await sessions.appendEvent({ session: SESSION, event });
  await sessions.whenIdle();
}

describe('the titler', () => {
  const storage = new InMemorySessionStorage();
  const opened: { readonly sessions: SessionService; readonly titles: SessionTitles }[] = [];
  let errors: unknown[] = [];
  let titleOf: jest.Mock<ReturnType<SessionTitler['titleOf']>, [TitleRequest]>;

  beforeEach(async () => {
    errors = [];
    titleOf = jest.fn(firstText);
    await storage.delete(KEY);
  });

  afterEach(async () => {
    for (const { sessions, titles } of opened.splice(0)) {
      titles.stop();
      await sessions.finish();
    }
  });

  function open(timeoutMs?: number): SessionService {
    const sessions = new SessionService({ storage, onBackgroundError: (error) => errors.push(error) });
    const titler = { titleOf: (request: TitleRequest) => titleOf(request) };
    const titles = new SessionTitles({ sessions, titler, timeoutMs });
    titles.start();
    opened.push({ sessions, titles });
    return sessions;
  }

  it('names a session after its first turn, with an event', async () => {
    const sessions = open();
    await sessions.createSession(KEY);
    await append(sessions, QUESTION, CALL, { ...ANSWER, partial: true });
    expect(titleOf).not.toHaveBeenCalled();
    await append(sessions, ANSWER);
    expect(await titleIn(sessions)).toBe('Where is order 7?');
    const { events } = await sessions.listEvents(KEY);
    const delta = { title: 'Where is order 7?' };
    expect(events.at(-1)).toMatchObject({ id: 'session-title', author: 'system', actions: { metadataDelta: delta } });
    await append(sessions, QUESTION, ANSWER);
    expect(titleOf).toHaveBeenCalledTimes(1);
  });

  it('delays no append', async () => {
    const sessions = open();
    await sessions.createSession(KEY);
    const { promise, resolve } = deferred();
    titleOf.mockReturnValue(promise);
    for (const event of [QUESTION, ANSWER]) await sessions.appendEvent({ session: SESSION, event });
    expect((await sessions.listEvents(KEY)).events).toHaveLength(2);
    resolve(' A title ');
    await sessions.whenIdle();
    expect(await titleIn(sessions)).toBe('A title');
  });

  it('is requested by one of several instances', async () => {
    const [first, second] = [open(), open()];
    await first.createSession(KEY);
    const { promise, resolve } = deferred();
    titleOf.mockReturnValue(promise);
    await first.appendEvent({ session: SESSION, event: QUESTION });
    await Promise.all([first, second].map(async (each) => each.appendEvent({ session: SESSION, event: ANSWER })));
    await second.appendEvent({ session: SESSION, event: ANSWER });
    resolve('A title');
    await Promise.all([first.whenIdle(), second.whenIdle()]);
    expect(titleOf).toHaveBeenCalledTimes(1);
    const { events } = await first.listEvents(KEY);
    expect(events.filter(({ actions }) => actions.metadataDelta)).toHaveLength(1);
  });

  it('keeps a title that somebody gave, before or meanwhile', async () => {
    const sessions = open();
    await sessions.createSession({ ...KEY, metadata: { title: 'Mine' } });
    await append(sessions, QUESTION, ANSWER);
    expect(titleOf).not.toHaveBeenCalled();
    await sessions.deleteSession(KEY);
    await sessions.createSession(KEY);
    titleOf.mockImplementation(async () => {
      const event = { author: 'user', actions: { metadataDelta: { title: 'Mine' } } };
      await sessions.appendEvent({ session: SESSION, event });
      return 'Of the titler';
    });
    await append(sessions, QUESTION, ANSWER);
    expect(titleOf).toHaveBeenCalledTimes(1);
    expect(await titleIn(sessions)).toBe('Mine');
  });

  it('writes its title after other events that came meanwhile', async () => {
    const sessions = open();
    await sessions.createSession(KEY);
    titleOf.mockImplementation(async (request) => {
      await sessions.appendEvent({ session: SESSION, event: QUESTION });
      return firstText(request);
    });
    await append(sessions, QUESTION, ANSWER);
    expect(await titleIn(sessions)).toBe('Where is order 7?');
  });

  it('is requested again after the next turns if there is none, a limited number of times', async () => {
    const sessions = open();
    await sessions.createSession(KEY);
    titleOf.mockRejectedValueOnce(new Error('no model')).mockReturnValue(' ');
    for (const turn of [1, 2, 3, 3]) {
      await append(sessions, QUESTION, ANSWER);
      expect(titleOf).toHaveBeenCalledTimes(turn);
    }
    expect(errors).toEqual([new Error('no model')]);
    expect(await titleIn(sessions)).toBeUndefined();
    expect((await sessions.listEvents(KEY)).events).toHaveLength(8);
  });

  it('does not give a title again that somebody removed', async () => {
    const sessions = open();
    await sessions.createSession(KEY);
    await append(sessions, QUESTION, ANSWER);
    await append(sessions, { author: 'user', actions: { metadataDelta: { title: null } } });
    titleOf.mockReturnValue('Another one');
    await append(sessions, QUESTION, ANSWER);
    expect([titleOf.mock.calls.length, await titleIn(sessions), errors]).toEqual([2, undefined, []]);
  });

  it('is written to a session that needs turns when no turn is held', async () => {
    const sessions = open();
    await sessions.createSession({ ...KEY, turnsOnly: true });
    for (const isHeld of [true, false]) {
      const turn = await sessions.beginTurn(KEY);
      await sessions.appendEvent({ session: SESSION, event: QUESTION, turn });
      await sessions.appendEvent({ session: SESSION, event: ANSWER, turn, endTurn: !isHeld });
      await sessions.whenIdle();
      expect(await titleIn(sessions)).toBe(isHeld ? undefined : 'Where is order 7?');
      await sessions.endTurn(turn);
    }
    expect(await sessions.getTurn(KEY)).toBeUndefined();
    expect(errors).toEqual([]);
  });

  it('has limited time', async () => {
    const sessions = open(1);
    await sessions.createSession(KEY);
    titleOf.mockReturnValue(new Promise(() => undefined));
    await append(sessions, QUESTION, ANSWER);
    expect(errors).toMatchObject([{ name: 'TimeoutError' }]);
  });

  it('is aborted when it is stopped, without an error', async () => {
    const sessions = open();
    await sessions.createSession(KEY);
    titleOf.mockImplementation(({ signal }) => {
      setImmediate(() => opened[0]?.titles.stop());
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
    });
    await append(sessions, QUESTION, ANSWER);
    expect(titleOf).toHaveBeenCalledTimes(1);
    expect(errors).toEqual([]);
  });
});

describe('the option titler of the module', () => {
  @Injectable()
  class FirstText implements SessionTitler {
    readonly titleOf = firstText;
  }

  it.each([
    ['an object', new FirstText()],
    ['a class', FirstText],
  ])('takes %s', async (_what, titler) => {
    const imports = [SessionsModule.forRoot({ provider: 'memory', titler })];
    const app = await (await Test.createTestingModule({ imports }).compile()).init();
    const sessions = app.get(SessionService);
    const session = await sessions.createSession(KEY);
    await sessions.appendEvents({ session, events: [QUESTION, ANSWER] });
    await sessions.whenIdle();
    expect((await sessions.getSession(KEY))?.metadata.title).toBe('Where is order 7?');
    await app.close();
  });
});
