import { OpenAccess, accessByRole, clientAccess, serviceAccess } from '../../src/sessions/rest/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp, frameworks } from '../rest/rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = '/apps/shop/users/ann/sessions/s';
const PROMPT = 'Sell the blue chair first.';
const TOOLS = [{ name: 'secret_discount' }];
const ANSWER = { author: 'agent', modelRequest: { given: [], instructions: PROMPT, tools: TOOLS } };

interface Report {
  readonly instructions: { readonly hash: string; readonly isKept: boolean; readonly value?: unknown };
  readonly tools: { readonly value?: unknown };
}

const access = accessByRole({
  roles: { agents: serviceAccess() },
  otherwise: clientAccess(),
  userOf: (request) => ({ id: 'ann', roles: [(request as Headers).headers['x-role']] }),
});

interface Headers {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

describe('instructions and tools of model requests', () => {
  it.each(frameworks)('are shown to services, and to clients only their hashes, on %s', async (framework) => {
    const app = await RestApp.start(framework, { access });
    await app.sessions.createSession(KEY);
    await app.sessions.appendEvent({ session: { ...KEY, id: 's' }, event: ANSWER });
    const ask = async (role: string): Promise<Report> =>
      (await app.request('GET', `${SESSION}/model-request?seq=1`, undefined, { 'x-role': role }))
        .body as object as Report;
    const [service, client] = [await ask('agents'), await ask('none')];
    expect([service.instructions.value, service.tools.value]).toEqual([PROMPT, TOOLS]);
    expect(client.instructions).toEqual({ hash: service.instructions.hash, isKept: true });
    expect(JSON.stringify(client)).not.toMatch(/chair|discount/);
    const events = await app.request('GET', `${SESSION}/events`, undefined, { 'x-role': 'none' });
    expect(events.text).not.toMatch(/chair|discount/);
    await app.close();
  });

  it('are not shown by a rule that does not say so, however open it is', async () => {
    const app = await GraphqlApp.start({ access: OpenAccess });
    await app.sessions.createSession(KEY);
    await app.sessions.appendEvent({ session: { ...KEY, id: 's' }, event: ANSWER });
    const document =
      '{ modelRequest(appName: "shop", userId: "ann", sessionId: "s", seq: 1) { instructions { isKept value } tools { value } } }';
    expect((await app.ask(document)).data).toEqual({
      modelRequest: { instructions: { isKept: true, value: null }, tools: { value: null } },
    });
    await app.close();
  });

  it.each(frameworks)('are not written by clients, on %s', async (framework) => {
    const app = await RestApp.start(framework, { access });
    await app.sessions.createSession(KEY);
    const event = { author: 'user', content: { parts: [{ text: 'Hi' }] }, modelRequest: { given: [] } };
    expect((await app.request('POST', `${SESSION}/events`, event, { 'x-role': 'none' })).status).toBe(403);
    expect((await app.request('POST', `${SESSION}/events`, event, { 'x-role': 'agents' })).status).toBe(201);
    await app.close();
  });
});
