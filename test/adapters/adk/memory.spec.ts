import { LlmAgent, LOAD_MEMORY, LogLevel, Runner, setLogLevel } from '@google/adk';
import { AdkMemoryService, AdkSessionService } from '../../../src/adapters/adk/index.js';
import {
  type EventInput,
  InMemorySessionService,
  SessionNotFoundError,
  type SessionService,
  StoreUnavailableError,
} from '../../../src/index.js';
import { SessionSearch } from '../../../src/search/index.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { storageOf } from '../../../src/storage.js';
import { untilIndexed } from '../../search/support.js';
import { collected } from './support/collected.js';
import { calls, message, says, ScriptedLlm } from './support/scripted-llm.js';

setLogLevel(LogLevel.ERROR);

const USER = { appName: 'shop', userId: 'ann' };

describe('The memory of ADK over sessions', () => {
  let file: SqliteFile;
  let sessions: SessionService;
  let search: SessionSearch;
  let memoryService: AdkMemoryService;
  beforeEach(async () => {
    file = new SqliteFile();
    sessions = await file.sessions();
    search = new SessionSearch({ sessions, pollMs: 10 });
    await search.start();
    memoryService = new AdkMemoryService({ sessions, search });
  });
  afterEach(async () => {
    await search.stop();
    await sessions.whenIdle();
    await file.remove();
  });

  it('answers load_memory of a Runner with what was said in an earlier session, which nobody added', async () => {
    const sessionService = new AdkSessionService({ sessions });
    const model = new ScriptedLlm(
      says('I will remember that.'),
      calls('load_memory', { query: 'what food is the user allergic to' }),
      says('Peanuts.'),
    );
    const agent = new LlmAgent({ name: 'support', model, tools: [LOAD_MEMORY] });
    const runner = new Runner({ appName: 'shop', agent, sessionService, memoryService });
    const ask = async (sessionId: string, text: string): Promise<void> => {
      await sessionService.createSession({ ...USER, sessionId });
      await collected(runner.runAsync({ userId: 'ann', sessionId, newMessage: message(text) }));
    };
    await ask('first', 'I am allergic to peanuts');
    await untilIndexed(search);
    await ask('second', 'Can I have the satay?');
    const { events } = await sessions.listEvents({ ...USER, sessionId: 'second' });
    const responses = events
      .flatMap(({ content }) => content?.parts ?? [])
      .flatMap((part) => part.functionResponse ?? []);
    expect(responses[0]).toMatchObject({
      name: 'load_memory',
      response: {
        memories: expect.arrayContaining([
          expect.objectContaining({ content: 'I am allergic to peanuts', author: 'user' }),
        ]),
      },
    });
  });

  it('finds what was said however often it was asked for, and not the asking', async () => {
    const sessionService = new AdkSessionService({ sessions });
    const asked = Array.from({ length: 4 }, () => [
      calls('load_memory', { query: 'daughter allergic' }),
      says('Noted'),
    ]);
    const model = new ScriptedLlm(says('Noted'), ...asked.flat());
    const agent = new LlmAgent({ name: 'support', model, tools: [LOAD_MEMORY] });
    const limited = new AdkMemoryService({ sessions, search, limit: 3 });
    const runner = new Runner({ appName: 'shop', agent, sessionService, memoryService: limited });
    for (const [index, text] of [
      'My daughter is allergic to peanuts',
      'To what?',
      'What?',
      'To?',
      'What to?',
    ].entries()) {
      await sessionService.createSession({ ...USER, sessionId: `s-${index}` });
      await collected(runner.runAsync({ userId: 'ann', sessionId: `s-${index}`, newMessage: message(text) }));
    }
    await untilIndexed(search);
    const { memories } = await limited.searchMemory({ ...USER, query: 'daughter allergic' });
    expect(memories.map(({ content }) => content.parts?.[0]?.text)).toEqual(['My daughter is allergic to peanuts']);
  });

  it('finds nothing of others, and takes any question', async () => {
    for (const userId of ['ann', 'bob']) {
      const session = await sessions.createSession({ appName: 'shop', userId, sessionId: 's-1' });
      const parts = [{ text: `The secret of ${userId}` }];
      await sessions.appendEvent({ session, event: { author: 'user', content: { role: 'user', parts } } });
    }
    await untilIndexed(search);
    const { memories } = await memoryService.searchMemory({ ...USER, query: 'secret' });
    expect(memories.map(({ content }) => content.parts)).toEqual([[{ text: 'The secret of ann' }]]);
    for (const query of ['', ' ', '*', '机'.repeat(2_000), 'x '.repeat(900)]) {
      expect(await memoryService.searchMemory({ ...USER, query })).toEqual({ memories: [] });
    }
    for (const query of [undefined, null, 5, {}] as never[]) {
      const refused = memoryService.searchMemory({ ...USER, query });
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'query' });
    }
  });

  it('looks for the best memories in a store without an index, not only among the newest events', async () => {
    const inMemory = new InMemorySessionService();
    const say = async (sessionId: string, texts: readonly string[]): Promise<void> => {
      const session = await inMemory.createSession({ ...USER, sessionId });
      await inMemory.appendEvents({ session, events: texts.map(said) });
    };
    await say('old', ['My daughter is allergic to peanuts']);
    for (let chat = 0; chat < 21; chat++) await say(`chat-${chat}`, Array<string>(100).fill('small talk'));
    const scan = new SessionSearch({ sessions: inMemory });
    const reading = jest.spyOn(storageOf(inMemory), 'read');
    const memory = new AdkMemoryService({ sessions: inMemory, search: scan, limit: 3 });
    const texts = async (query: string): Promise<unknown[]> =>
      (await memory.searchMemory({ ...USER, query })).memories.map(({ content }) => content.parts?.[0]?.text);
    expect(await texts('peanuts')).toEqual(['My daughter is allergic to peanuts']);
    // Weak hits are among the newest 2,000 events, the best one is not.
    expect((await texts('talk of peanuts'))[0]).toBe('My daughter is allergic to peanuts');
    expect(await texts('talk of peanuts')).toHaveLength(3);
    // Where no better one can be, it ends.
    reading.mockClear();
    expect(await texts('small talk')).toEqual(['small talk', 'small talk', 'small talk']);
    expect(reading.mock.calls.filter(([{ window }]) => window)).toHaveLength(20 + 3);
    await inMemory.close();
  });

  it('leaves out a session that is deleted after it was found, and hides no other failure', async () => {
    const session = await sessions.createSession({ ...USER, sessionId: 's-1' });
    const content = { role: 'user', parts: [{ text: 'allergic' }] };
    await sessions.appendEvent({ session, event: { author: 'user', content } });
    await untilIndexed(search);
    const reading = jest.spyOn(sessions, 'listEvents');
    reading.mockRejectedValueOnce(new SessionNotFoundError('s-1'));
    expect(await memoryService.searchMemory({ ...USER, query: 'allergic' })).toEqual({ memories: [] });
    reading.mockRejectedValueOnce(new StoreUnavailableError('The store is gone.', false));
    await expect(memoryService.searchMemory({ ...USER, query: 'allergic' })).rejects.toThrow('The store is gone.');
  });

  it('has each session of the store already, and refuses others', async () => {
    const adk = new AdkSessionService({ sessions });
    const session = await adk.createSession({ ...USER, sessionId: 's-1' });
    await memoryService.addSessionToMemory(session);
    await expect(memoryService.addSessionToMemory({ ...session, id: 'elsewhere' })).rejects.toThrow(
      'AdkSessionService',
    );
    expect(() => new AdkMemoryService({ sessions, search, limit: 0 })).toThrow('limit');
  });
});

function said(text: string): EventInput {
  return { author: 'user', content: { role: 'user', parts: [{ text }] } };
}
