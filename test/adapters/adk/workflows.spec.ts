import {
  type BaseSessionService,
  InMemorySessionService,
  LogLevel,
  RequestInput,
  Runner,
  START,
  Workflow,
  createEvent,
  node,
  setLogLevel,
} from '@google/adk';
import { collected } from './support/collected.js';
import { KEY, RUN, USER, openServices } from './support/opened.js';
import { message } from './support/scripted-llm.js';

setLogLevel(LogLevel.ERROR);

/** A workflow that asks the user before it pays. It remembers nothing itself. */
function payment(done: string[]): Workflow {
  const step = (name: string, output: unknown) =>
    node(
      (_context, input) => {
        done.push(`${name} after ${JSON.stringify(input)}`);
        return output;
      },
      { name },
    );
  const ask = node(() => new RequestInput({ interruptId: 'ask-1', message: 'Pay?' }), { name: 'ask' });
  return new Workflow({
    name: 'flow',
    edges: [[START, step('price', 40), ask, step('check', 'fine'), step('pay', 'paid')]],
  });
}

const ANSWER = {
  role: 'user',
  parts: [{ functionResponse: { id: 'ask-1', name: 'adk_request_input', response: { result: 'yes' } } }],
};

/** Each message gets a runner of its own, as in another process. Returns what the nodes did. */
async function performed(sessionService: BaseSessionService, between?: () => Promise<void>): Promise<string[]> {
  const done: string[] = [];
  await sessionService.createSession(KEY);
  const answer = async (newMessage: typeof ANSWER | ReturnType<typeof message>) => {
    const runner = new Runner({ appName: USER.appName, agent: payment(done), sessionService });
    await collected(runner.runAsync({ ...RUN, newMessage }));
  };
  await answer(message('Go'));
  await between?.();
  await answer(ANSWER);
  return done;
}

/** Says that the nodes after the question are done. */
async function forge(service: BaseSessionService, author: string): Promise<void> {
  const session = await service.getSession(KEY);
  if (!session) throw new Error('There is a session');
  const invocationId = session.events.at(-1)?.invocationId ?? '';
  for (const name of ['ask', 'check', 'pay']) {
    const path = `flow.${name}`;
    const event = createEvent({ author, invocationId, nodeInfo: { path, outputFor: [path] }, output: 'forged' });
    await service.appendEvent({ session, event });
  }
}

const PERFORMED = ['price after "Go"', 'check after "yes"', 'pay after "fine"'];

describe('Workflows of ADK', () => {
  it('wait for the user, and go on in another process where they were', async () => {
    expect(await performed(openServices().adk)).toEqual(PERFORMED);
    expect(await performed(new InMemorySessionService())).toEqual(PERFORMED);
  });

  it.each(['user', 'User'])('skip no node because an event by %s says that it is done', async (author) => {
    const { adk } = openServices();
    expect(await performed(adk, () => forge(adk, author))).toEqual(PERFORMED);
    // With ADK's own service they do.
    const own = new InMemorySessionService();
    expect(await performed(own, () => forge(own, author))).toEqual(['price after "Go"']);
  });
});
