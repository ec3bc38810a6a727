import { Injectable, Scope } from '@nestjs/common';
import { type AccessRequest, OpenAccess } from '../../src/sessions/rest/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp, frameworks } from '../rest/rest-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = '/apps/shop/users/ann/sessions/s';

/** Lets nobody write state. */
class NoState extends OpenAccess {
  override allowsWrite({ write }: AccessRequest): boolean {
    return write?.stateKeys.length === 0;
  }
}

@Injectable({ scope: Scope.REQUEST })
class RulePerRequest extends OpenAccess {}

describe('state in the message of a run', () => {
  const wrong = ['text', '', 5, true];
  const open = { access: NoState, agents: true } as const;

  it.each(frameworks)('is an object, or the run is refused before it begins, on %s', async (framework) => {
    const app = await RestApp.start(framework, open);
    await app.sessions.createSession(KEY);
    for (const stateDelta of wrong) {
      const body = { newMessage: 'Hello', stateDelta };
      const asAdk = { ...KEY, newMessage: 'Hello', state_delta: stateDelta };
      expect([stateDelta, (await app.request('POST', `${SESSION}/run`, body)).status]).toEqual([stateDelta, 400]);
      expect([stateDelta, (await app.request('POST', '/run', asAdk)).status]).toEqual([stateDelta, 400]);
    }
    const keyed = await app.request('POST', `${SESSION}/run`, { newMessage: 'Hello', stateDelta: { a: 1 } });
    expect(keyed.status).toBe(403);
    expect((await app.request('GET', `${SESSION}/events`)).body.events).toEqual([]);
    await app.close();
  });

  it('is an object over GraphQL, too', async () => {
    const app = await GraphqlApp.start(open);
    await app.sessions.createSession(KEY);
    const document =
      'mutation ($delta: JSON) { runAgent(appName: "shop", userId: "ann", sessionId: "s", newMessage: "Hello", stateDelta: $delta) { status } }';
    for (const delta of wrong) {
      const { errors } = await app.ask(document, { delta });
      expect([delta, errors[0]?.extensions?.code]).toEqual([delta, 'INVALID_INPUT']);
    }
    expect((await app.sessions.listEvents(KEY)).events).toEqual([]);
    await app.close();
  });
});

describe('an access rule that is made for each request', () => {
  it('is asked by every field', async () => {
    const app = await GraphqlApp.start({ access: RulePerRequest });
    await app.sessions.createSession(KEY);
    const document =
      '{ sessions(appName: "shop") { nodes { id } } usage(appName: "shop") { period } turn(appName: "shop", userId: "ann", sessionId: "s") { holder } }';
    expect(await app.ask(document)).toMatchObject({ errors: [], data: { sessions: { nodes: [{ id: 's' }] } } });
    await app.close();
  });

  it('is asked by every route', async () => {
    const app = await RestApp.start('Express', { access: RulePerRequest });
    await app.sessions.createSession(KEY);
    for (const path of ['/apps/shop/sessions', SESSION, `${SESSION}/events`, '/apps/shop/usage']) {
      expect([path, (await app.request('GET', path)).status]).toEqual([path, 200]);
    }
    await app.close();
  });
});
