import { InMemorySessionStorage } from '../../src/index.js';
import type { RunRequest } from '../../src/agents/index.js';
import { AgentApp, KEY } from './support/agent-app.js';
import { echo } from './support/handlers.js';
import { EMPTY_MESSAGES, FULL_MESSAGES } from './support/user-messages.js';

describe('the message of a run', () => {
  let app: AgentApp;

  beforeEach(() => (app = new AgentApp(new InMemorySessionStorage())));
  afterEach(() => app.close());

  it.each(EMPTY_MESSAGES)('must say something: %j does not', async (message) => {
    const run = () => app.agents.run({ ...KEY, newMessage: message as RunRequest['newMessage'] }, echo);
    expect(run).toThrow(expect.objectContaining({ code: 'INVALID_INPUT', status: 400 }));
    expect(run).toThrow(/newMessage.*(parts: \[|such as)/s);
    expect(await app.sessions.getSession(KEY)).toBeUndefined();
  });

  it('must be there', () => {
    expect(() => app.agents.run({ ...KEY } as unknown as RunRequest, echo)).toThrow('newMessage: is missing');
  });

  it.each(['javascript:alert(1)', ' JavaScript:alert(1)', 'java\nscript:alert(1)', 'vbscript:x'])(
    'has no script %j as a file',
    (fileUri) => {
      const newMessage = { role: 'user', parts: [{ text: 'see' }, { fileData: { fileUri, mimeType: 'text/html' } }] };
      expect(() => app.agents.run({ ...KEY, newMessage }, echo)).toThrow(
        'newMessage.parts[1].fileData.fileUri: must be',
      );
    },
  );

  it('names the field that holds the text instead of parts, and not the text', () => {
    expect(() =>
      app.agents.run({ ...KEY, newMessage: { role: 'user', content: 'my secret' } as object }, echo),
    ).toThrow(/newMessage: has "content" instead of parts(?!.*my secret)/);
  });

  it.each(FULL_MESSAGES)('may be %j', async (message) => {
    await app.agents.run({ ...KEY, newMessage: message }, echo).result;
    const [stored] = await app.log();
    const content = typeof message === 'string' ? { parts: [{ text: message }] } : message;
    expect(stored).toMatchObject({ author: 'user', content: { ...content, role: 'user' } });
  });

  it('may be empty if its event has data of the app', async () => {
    const newMessage = { role: 'user', parts: [] };
    const { status } = await app.agents.run({ ...KEY, newMessage, customMetadata: { button: 'ok' } }, echo).result;
    expect(status).toBe('completed');
  });
});
