import { InMemorySessionService } from '../../src/index.js';
import { describeTools } from '../../src/agents/index.js';
import { recallTools, SessionSearch } from '../../src/search/index.js';
import { USER } from './support.js';

describe('The tools of recall', () => {
  let sessions: InMemorySessionService;
  let tools: ReturnType<typeof recallTools>;
  beforeEach(async () => {
    sessions = new InMemorySessionService();
    for (const [sessionId, userId] of [
      ['old', 'ann'],
      ['now', 'ann'],
      ['other', 'bob'],
    ] as const) {
      const session = await sessions.createSession({ appName: 'shop', userId, sessionId });
      const texts = ['Hello', `I am allergic to peanuts, says ${sessionId}`, 'Thanks'];
      await sessions.appendEvents({
        session,
        events: texts.map((text) => ({ author: 'user', content: { role: 'user' as const, parts: [{ text }] } })),
      });
    }
    tools = recallTools({ search: new SessionSearch({ sessions }), ...USER, currentSessionId: 'now' });
  });
  afterEach(() => sessions.close());

  it('find what the user said in other sessions, and read what stands around it', async () => {
    const found = await tools.search_sessions.run({ query: 'Which allergic reactions to peanuts?' });
    expect(found).toEqual({
      has_more: false,
      hits: [
        {
          session_id: 'old',
          seq: 2,
          author: 'user',
          time: expect.stringMatching(/^\d{4}-.*Z$/),
          snippet: 'I am allergic to peanuts, says old',
        },
      ],
    });
    const window = await tools.read_session_window.run({ session_id: 'old', seq: 2, before: 1, after: 0 });
    expect(window).toMatchObject({ events: [{ text: 'Hello' }, { text: 'I am allergic to peanuts, says old' }] });
  });

  it('do not find what they were asked and said before', async () => {
    const asked = [
      ['search_sessions', { query: 'peanuts' }, { hits: [{ snippet: 'peanuts' }], has_more: false }],
      ['read_session_window', { session_id: 'old', seq: 1, why: 'peanuts' }, { events: [{ text: 'peanuts' }] }],
    ] as const;
    const calls = asked.map(([name, args]) => ({ functionCall: { id: name, name, args } }));
    const responses = asked.map(([name, , response]) => ({ functionResponse: { id: name, name, response } }));
    const session = await sessions.createSession({ ...USER, sessionId: 'asked' });
    await sessions.append({ session, event: { author: 'agent', content: { role: 'model', parts: calls } } });
    await sessions.append({ session, event: { author: 'agent', content: { role: 'user', parts: responses } } });
    const found = await tools.search_sessions.run({ query: 'peanuts' });
    expect(found).toMatchObject({ hits: [{ session_id: 'old' }] });
    const around = { session_id: 'asked', seq: 1 };
    expect(await tools.read_session_window.run(around)).toEqual({ events: [] });
  });

  it('reach no other user, whatever a model asks for', async () => {
    const args = { session_id: 'other', seq: 2, userId: 'bob', user_id: 'bob' };
    await expect(tools.read_session_window.run(args)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    const query = { query: 'peanuts', userId: 'bob' };
    expect(JSON.stringify(await tools.search_sessions.run(query))).not.toContain('says other');
  });

  it('are tools of agents, with the JSON Schema of their arguments', () => {
    const described = describeTools({ ...tools });
    expect(described.map(({ name }) => name)).toEqual(['search_sessions', 'read_session_window']);
    expect(described[0]).toMatchObject({
      description: tools.search_sessions.description,
      parameters: { type: 'object', required: ['query'], properties: { query: { type: 'string' } } },
    });
  });

  it('say what is wrong with their arguments', async () => {
    await expect(tools.search_sessions.run({ query: '' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(tools.read_session_window.run({ session_id: 'old', seq: 0 })).rejects.toMatchObject({ path: 'seq' });
    for (const tool of Object.values(tools)) {
      for (const args of [null, undefined, 'x'] as never[]) {
        await expect(tool.run(args)).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'arguments' });
      }
    }
    expect(tools.search_sessions.input['~standard'].validate('x')).toHaveProperty('issues');
  });
});
