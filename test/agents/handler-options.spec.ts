import { inspect } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { z } from 'zod';
import {
  type Agent,
  AgentHandler,
  type AgentOptions,
  AgentRegistry,
  AgentsModule,
  type RunHandler,
  type RunRequest,
} from '../../src/agents/index.js';
import { InMemorySessionStorage, SessionsModule } from '../../src/index.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { text } from './support/handlers.js';

const OPTIONS = 'app, name, policy, quietMs, outputKey, outputSchema, onMismatch, approvals';
const APP = 'it must be the name of the app whose messages it answers, several, or a function of a name.';
const STATE_KEY = 'it must be a state key, such as answer or user:answer.';
const SCHEMA = 'it must be a schema of a library with Standard Schema, such as zod.';

const MISTAKES: readonly (readonly [options: Record<string, unknown>, ...problems: string[]])[] = [
  [
    { policy: 'nope', quietMs: -5 },
    'policy is "nope"; it must be one of reject, enqueue, interrupt, rollback, merge, debounce.',
    'quietMs is -5; it must be a number from 0 to 3600000, in milliseconds.',
  ],
  [{ app: undefined }, `app is missing; ${APP}`],
  [{ app: 7 }, `app is 7; ${APP}`],
  [{ app: [] }, `app is []; ${APP}`],
  [{ app: ['acme', ''] }, `app is ["acme",""]; ${APP}`],
  [{ app: '..' }, `app is ".."; ${APP}`],
  [{ quietMs: Infinity }, 'quietMs is Infinity; it must be a number from 0 to 3600000, in milliseconds.'],
  [{ name: 'User' }, 'name is "User"; it must be a name of at most 191 bytes, other than user.'],
  [{ name: '' }, 'name is ""; it must be a name of at most 191 bytes, other than user.'],
  [{ app: 'user' }, 'name is missing; an agent of the app "user" needs another name than user.'],
  [{ app: ['shop', 'USER'] }, 'name is missing; an agent of the app "USER" needs another name than user.'],
  [{ outputKey: 'user:' }, `outputKey is "user:"; ${STATE_KEY}`],
  [{ outputKey: 5 }, `outputKey is 5; ${STATE_KEY}`],
  [{ outputkey: 'x' }, `outputkey is no option; did you mean outputKey? There are ${OPTIONS}.`],
  [{ outputSchema: 5, outputKey: 'k' }, `outputSchema is 5; ${SCHEMA}`],
  [{ outputSchema: {}, outputKey: 'k' }, `outputSchema is {}; ${SCHEMA}`],
  [{ outputSchema: z.string() }, 'outputSchema has no effect without outputKey; set both.'],
  [{ onMismatch: 5, outputKey: 'k', outputSchema: z.string() }, 'onMismatch is 5; it must be a function.'],
  [{ onMismatch: () => {}, outputKey: 'k' }, 'onMismatch has no effect without outputSchema; set both.'],
  [{ approvals: { pay: {} } }, 'approvals is {"pay":{}}; it must be an object with such schemas, by names of tools.'],
];

const CASES = MISTAKES.map(([options, ...problems]) => ({ options, problems }));

const hello: RunHandler = async function* () {
  yield text('hello');
};

describe('a mistake in the options of an agent', () => {
  it.each(CASES)('is refused by the registry: $options', ({ options, problems }) => {
    const { agents } = new AgentApp(new InMemorySessionStorage());
    const given = { app: 'shop', ...options };
    const register = (): void => new AgentRegistry(agents).register(given, hello);
    const expected = problems.map((problem) => `The agent of ${inspect(given.app)}: ${problem}`);
    expect(register).toThrow(expect.objectContaining({ code: 'CONFIGURATION_INVALID', problems: expected }));
  });

  it('keeps the app from starting', async () => {
    @Injectable()
    @AgentHandler({ app: 'shop', outputkey: 'said' } as AgentOptions)
    class Misspelled implements Agent {
      run = hello;
    }
    const sessions = SessionsModule.forRoot({ provider: 'memory', isGlobal: true });
    const imports = [sessions, AgentsModule.forRoot(), AgentsModule.forFeature([Misspelled])];
    const app = (await Test.createTestingModule({ imports }).compile()).createNestApplication();
    await expect(app.init()).rejects.toThrow('did you mean outputKey?');
    await app.close();
  });

  it('is none if an agent of the app user has another name', async () => {
    const app = new AgentApp(new InMemorySessionStorage());
    const registry = new AgentRegistry(app.agents);
    registry.register({ app: 'user', name: 'support' }, hello);
    const { events } = await registry.run({ ...KEY, appName: 'user', newMessage: 'hi' }).result;
    expect(events.map(({ author }) => author)).toEqual(['support']);
    await app.close();
  });
});

describe('a mistake in the output of a run', () => {
  it.each([
    [{ outputKey: 'user:' }, 'outputKey'],
    [{ outputKey: 5 }, 'outputKey'],
    [{ outputKey: '' }, 'outputKey'],
    [{ outputKey: 'k', outputSchema: 5 }, 'outputSchema'],
    [{ outputKey: 'k', outputSchema: {} }, 'outputSchema'],
    [{ outputSchema: z.string() }, 'outputSchema'],
  ])('is refused before the model is asked: %j', async (output, path) => {
    const app = new AgentApp(new InMemorySessionStorage());
    const request = { ...KEY, newMessage: 'hi', ...output } as RunRequest;
    expect(() => app.agents.run(request, hello)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT', path }));
    expect(await app.sessions.getSession(KEY)).toBeUndefined();
    await app.close();
  });
});
