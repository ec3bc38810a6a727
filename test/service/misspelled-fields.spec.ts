import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type EventInput,
  InMemorySessionStorage,
  type InvalidInputError,
  SessionService,
  type SessionServiceOptions,
  SessionsModule,
} from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'cart' };
const SESSION = { appName: 'shop', userId: 'ann', id: 'cart' };

async function open(options: Partial<SessionServiceOptions> = {}): Promise<SessionService> {
  const sessions = new SessionService({ storage: new InMemorySessionStorage(), ...options });
  await sessions.createSession(KEY);
  return sessions;
}

/** What clients send: the compiler has not seen it. */
function sent(fields: object): EventInput {
  return { author: 'agent', ...fields };
}

const MISSPELLED: readonly (readonly [path: string, meant: string, fields: object])[] = [
  ['$.contnet', 'content', { contnet: { parts: [{ text: 'hi' }] } }],
  ['$.contents', 'content', { contents: { parts: [{ text: 'hi' }] } }],
  ['$.invocatonId', 'invocationId', { invocatonId: 'i-1' }],
  ['$.invocation_id', 'invocationId', { invocation_id: 'i-1' }],
  ['$.stateDelta', 'actions.stateDelta', { stateDelta: { step: 1 } }],
  ['$.state_delta', 'actions.stateDelta', { state_delta: { step: 1 } }],
  ['$.parts', 'content.parts', { parts: [{ text: 'hi' }] }],
  ['$.text', 'content.parts[0].text', { text: 'hi' }],
  ['$.actions.statedelta', 'stateDelta', { actions: { statedelta: { step: 1 } } }],
  ['$.actions.state_delta', 'stateDelta', { actions: { state_delta: { step: 1 } } }],
  ['$.content.part', 'parts', { content: { part: [{ text: 'hi' }] } }],
  ['$.content.content', 'parts', { content: { role: 'user', content: 'hi' } }],
  ['$.content.text', 'parts[0].text', { content: { role: 'user', text: 'hi' } }],
  ['$.content.parts[1].txt', 'text', { content: { parts: [{ text: 'hi' }, { txt: 'hi' }] } }],
  ['$.content.parts[0].function_call', 'functionCall', { content: { parts: [{ function_call: { name: 'find' } }] } }],
  [
    '$.content.parts[0].functionCall.arg',
    'args',
    { content: { parts: [{ functionCall: { name: 'find', arg: {} } }] } },
  ],
  [
    '$.content.parts[0].functionResponse.responce',
    'response',
    { content: { parts: [{ functionResponse: { name: 'find', responce: {} } }] } },
  ],
];

describe('a misspelled field', () => {
  it.each(MISSPELLED)('is found and kept: %s for %s', async (path, meant, fields) => {
    const onMisspelledField = jest.fn<void, [InvalidInputError]>();
    const sessions = await open({ onMisspelledField });
    const stored = await sessions.appendEvent({ session: SESSION, event: sent(fields) });
    expect(stored).toMatchObject(fields);
    expect(onMisspelledField.mock.calls.map(([error]) => [error.path, error.message])).toEqual([
      [path, expect.stringContaining(`${meant}. Did you mean that?`)],
    ]);
  });

  it.each([
    ['User:theme', 'user:theme'],
    ['apps:motto', 'app:motto'],
    ['tmp:note', 'temp:note'],
  ])('is found in the scope of a state key: %s', async (key, meant) => {
    const onMisspelledField = jest.fn<void, [InvalidInputError]>();
    const sessions = await open({ onMisspelledField });
    await sessions.appendEvent({ session: SESSION, event: sent({ actions: { stateDelta: { [key]: 1 } } }) });
    const message = `$.actions.stateDelta["${key}"]: belongs to this session alone. Did you mean "${meant}"?`;
    expect(onMisspelledField.mock.calls).toEqual([[expect.objectContaining({ message })]]);
    expect((await sessions.getSession(KEY))?.state.toRecord()).toEqual({ [key]: 1 });
  });

  it('is shown without line breaks, which would begin a line of the log', async () => {
    const onMisspelledField = jest.fn<void, [InvalidInputError]>();
    const sessions = await open({ onMisspelledField });
    await sessions.appendEvent({
      session: SESSION,
      event: sent({ actions: { stateDelta: { 'User:x\n[Nest] forged': 1 } } }),
    });
    expect(onMisspelledField.mock.calls[0]?.[0].message).toMatch(/Did you mean "user:x\\n\[Nest\] forged"\?$/);
  });

  it('is found in a batch, after hooks, and in the state of a new session', async () => {
    const onMisspelledField = jest.fn<void, [InvalidInputError]>();
    const sessions = await open({ onMisspelledField });
    await sessions.appendEvents({ session: SESSION, events: [sent({}), sent({ brnach: 'root' })] });
    sessions.hooks.onBeforeAppend(({ event }) => ({ ...event, ...sent({ custom_metadata: {} }) }));
    await sessions.appendEvent({ session: SESSION, event: sent({}) });
    await sessions.createSession({ ...KEY, sessionId: 'other', state: { 'users:theme': 'dark' } });
    expect(onMisspelledField.mock.calls.map(([{ path }]) => path)).toEqual([
      '$.events[1].brnach',
      '$.custom_metadata',
      '$.state["users:theme"]',
    ]);
  });

  it('is refused, and nothing is written, if onMisspelledField throws', async () => {
    const sessions = await open({
      onMisspelledField: (error) => {
        throw error;
      },
    });
    await expect(
      sessions.appendEvent({ session: SESSION, event: sent({ actions: { statedelta: {} } }) }),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT', path: '$.actions.statedelta' });
    expect((await sessions.listEvents(KEY)).events).toEqual([]);
  });

  it('is no other field of an app, of ADK or of Gemini', async () => {
    const onMisspelledField = jest.fn();
    const sessions = await open({ onMisspelledField });
    await sessions.appendEvent({
      session: SESSION,
      event: sent({
        traceId: 't-1',
        isCompacted: true,
        startTime: 1,
        content: { role: 'model', parts: [{ text: 'hi', speechMetadata: {}, toolCall: {}, note: 'n' }], name: 'x' },
        actions: { rewindBeforeInvocationId: 'i', adkCompaction: {}, stateDelta: { 'user:a': 1, 'cart:b': 1, usr: 1 } },
      }),
    });
    expect(onMisspelledField).not.toHaveBeenCalled();
  });

  it('is a warning once, wherever in a list it is, and only so many', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation();
    try {
      const sessions = await open();
      for (const parts of [
        [{ txt: 'a' }, { txt: 'b' }],
        [{ text: 'c' }, { txt: 'd' }],
      ])
        await sessions.appendEvent({ session: SESSION, event: sent({ content: { parts } }) });
      expect(warn.mock.calls).toEqual([
        ['$.content.parts[0].txt: is stored and not read: a part has text. Did you mean that?'],
      ]);
      const keys = Array.from({ length: 200 }, (_, index) => [`User:${index}`, 1] as const);
      await sessions.createSession({ ...KEY, sessionId: 'other', state: Object.fromEntries(keys) });
      expect(warn).toHaveBeenCalledTimes(100);
    } finally {
      warn.mockRestore();
    }
  });

  it('is a warning of the logger in Nest', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const module = await Test.createTestingModule({
      imports: [SessionsModule.forRoot({ provider: 'memory' })],
    }).compile();
    try {
      const sessions = module.get(SessionService);
      await sessions.createSession(KEY);
      await sessions.appendEvent({ session: SESSION, event: sent({ contnet: {} }) });
      expect(warn).toHaveBeenCalledWith(expect.stringContaining('$.contnet: is stored and not read'));
    } finally {
      warn.mockRestore();
      await module.close();
    }
  });
});
