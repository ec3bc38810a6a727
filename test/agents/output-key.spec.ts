import { z } from 'zod';
import { AgentRegistry, type RunHandler } from '../../src/agents/index.js';
import { InMemorySessionStorage } from '../../src/index.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { call, failureBy, partial, text } from './support/handlers.js';

const REQUEST = { ...KEY, newMessage: 'hi', outputKey: 'rating', outputSchema: z.object({ stars: z.number() }) };
const WRONG = '{"stars":"four"}';

const saying = (said: string): RunHandler =>
  async function* () {
    yield text(said);
  };

const returning = (said: string): RunHandler =>
  async function* () {
    yield call('c1');
    return text(said);
  };

const inPieces = (said: string): RunHandler =>
  async function* () {
    yield partial(said.slice(0, 4));
    yield partial(said.slice(4));
  };

function refuse(problem: string): never {
  throw new TypeError(problem);
}

describe('an output that does not fit its schema', () => {
  let app: AgentApp;

  beforeEach(() => (app = new AgentApp(new InMemorySessionStorage())));
  afterEach(() => app.close());

  describe.each([
    ['yielded', saying],
    ['returned', returning],
    ['said in pieces', inPieces],
  ])('%s', (_, handlerOf) => {
    it.each([
      ['no JSON', 'four stars', 'four stars', 'is no JSON'],
      ['other JSON', WRONG, { stars: 'four' }, 'does not fit its schema'],
    ])('is told to the log of the server once: %s', async (_kind, said, saved, problem) => {
      const { session } = await app.agents.run(REQUEST, handlerOf(said)).result;
      expect(session.state.get('rating')).toEqual(saved);
      expect(app.errors).toMatchObject([
        { name: 'OutputMismatchWarning', message: expect.stringContaining(`The output for "rating" ${problem}`) },
      ]);
    });

    it('is told to `onMismatch` instead, of a run and of an agent', async () => {
      const problems: string[] = [];
      const onMismatch = (problem: string): void => void problems.push(problem);
      await app.agents.run({ ...REQUEST, onMismatch }, handlerOf(WRONG)).result;
      const registry = new AgentRegistry(app.agents);
      const { outputKey, outputSchema } = REQUEST;
      registry.register({ app: KEY.appName, outputKey, outputSchema, onMismatch }, handlerOf(WRONG));
      await registry.run({ ...KEY, newMessage: 'hi' }).result;
      const problem = expect.stringContaining('The output for "rating" does not fit its schema') as string;
      expect([problems, app.errors]).toEqual([[problem, problem], []]);
    });

    it('ends the run, and saves nothing, if `onMismatch` throws', async () => {
      const run = app.agents.run({ ...REQUEST, onMismatch: refuse }, handlerOf(WRONG));
      await expect(run.result).rejects.toMatchObject(failureBy({ name: 'TypeError' }));
      expect((await app.sessions.getSession(KEY))?.state.getAll()).toEqual({});
      expect((await app.log()).at(-1)).toMatchObject({ errorCode: 'FAILED' });
    });
  });

  it('is no mismatch if it fits', async () => {
    const { session } = await app.agents.run(REQUEST, saying('{"stars":4}')).result;
    expect([session.state.getAll(), app.errors]).toEqual([{ rating: { stars: 4 } }, []]);
  });

  it('cannot be told to what is no function', () => {
    const request = { ...REQUEST, onMismatch: 'fail' as never };
    expect(() => app.agents.run(request, saying(''))).toThrow('onMismatch: must be a function');
  });
});

describe('an event whose actions are null', () => {
  it.each([{ stateDelta: null }, { stateRemovals: null }])(
    'is stored with the output and other changes: %j',
    async (actions) => {
      const app = new AgentApp(new InMemorySessionStorage());
      const run = app.agents.run({ ...KEY, newMessage: 'hi', outputKey: 'said' }, async function* ({ session }) {
        session.state.set('step', 1);
        yield { ...text('hello'), actions: actions as never };
      });
      const { session } = await run.result;
      expect([session.state.getAll(), app.errors]).toEqual([{ step: 1, said: 'hello' }, []]);
      await app.close();
    },
  );
});
