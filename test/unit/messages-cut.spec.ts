import { type MessageFormat, type ToMessagesOptions, toMessages } from '../../src/agents/index.js';
import { type EventInput, InMemorySessionStorage } from '../../src/index.js';
import { AgentApp, KEY } from '../agents/support/agent-app.js';
import { HeldHandler, echo, partial } from '../agents/support/handlers.js';

const NOTE = '[The answer above was cut off.]';
const said = (author: string, words: string, more: EventInput = {}): EventInput => ({
  author,
  content: { role: author === 'user' ? 'user' : 'model', parts: [{ text: words }] },
  ...more,
});
const CUT = { interrupted: true, errorCode: 'STOPPED' };
const EVENTS = [said('user', 'Tell me'), said('agent', 'Once upon', CUT), said('user', 'Go on')];

function messagesOf(events: readonly EventInput[], options: Partial<ToMessagesOptions<'openai'>> = {}): unknown[] {
  return toMessages(events, { format: 'openai', ...options });
}

describe('An answer that was cut off', () => {
  it.each<[MessageFormat, unknown]>([
    ['openai', { role: 'user', content: NOTE }],
    [
      'anthropic',
      {
        role: 'user',
        content: [
          { type: 'text', text: NOTE },
          { type: 'text', text: 'Go on' },
        ],
      },
    ],
    ['google', { role: 'user', parts: [{ text: NOTE }, { text: 'Go on' }] }],
    ['ai-sdk', { role: 'user', content: [{ type: 'text', text: NOTE }] }],
  ])('is followed by a note of the user, for %s', (format, expected) => {
    expect(toMessages(EVENTS, { format })[2]).toEqual(expected);
  });

  it('has another note, or none, if it is to be so', () => {
    expect(messagesOf(EVENTS, { cutNote: '(stopped)' })[2]).toEqual({ role: 'user', content: '(stopped)' });
    expect(messagesOf(EVENTS, { cutNote: false })).toHaveLength(3);
  });

  it('has none if nothing was said, if it is whole, and if the user said it', () => {
    const nothing: EventInput = { author: 'agent', ...CUT };
    for (const event of [nothing, said('agent', 'Whole'), said('user', 'Hm', { interrupted: true })]) {
      expect(JSON.stringify(messagesOf([said('user', 'Hi'), event]))).not.toContain(NOTE);
    }
  });

  it('has it after the results of its calls, and for other agents', () => {
    const part = { functionCall: { id: 'c1', name: 'look', args: {} } };
    const cut: EventInput = { author: 'agent', content: { role: 'model', parts: [{ text: 'I' }, part] }, ...CUT };
    const roles = (options?: Partial<ToMessagesOptions<'openai'>>) =>
      messagesOf([said('user', 'Hi'), cut], options).map((message) => (message as { readonly role: string }).role);
    expect(roles()).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(roles({ agent: 'writer' })).toEqual(['user', 'user', 'user']);
  });

  it('is so in the log of a run that was stopped', async () => {
    const app = new AgentApp(new InMemorySessionStorage());
    const held = new HeldHandler([partial('Once '), partial('upon')]);
    const run = app.agents.run({ ...KEY, newMessage: 'Tell me' }, held.handler);
    await held.started;
    await app.agents.stop(KEY);
    await run.result;
    await app.agents.run({ ...KEY, newMessage: 'Go on' }, echo).result;
    const session = await app.sessions.getSession(KEY);
    expect(messagesOf(session?.events ?? [])).toEqual([
      { role: 'user', content: 'Tell me' },
      { role: 'assistant', content: 'Once upon' },
      { role: 'user', content: NOTE },
      { role: 'user', content: 'Go on' },
      { role: 'assistant', content: 'echo: Go on' },
    ]);
    await app.close();
  });
});
