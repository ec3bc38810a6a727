import { EventEmitter, once } from 'node:events';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { SessionsClient } from '../../src/client/index.js';
import { makeApiKey } from '../../src/sessions/auth/api-keys.js';
import {
  type AuthOptions,
  OpenAccess,
  SessionAccessModule,
  accessByPreset,
  clientAccess,
} from '../../src/sessions/rest/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp, frameworks } from '../rest/rest-app.js';
import { Issuer, bearer } from './issuer.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = '/apps/shop/users/ann/sessions/s';
const SERVICE = makeApiKey();
const SUPPORT = makeApiKey();
const apiKeys = [
  { name: 'agents', hash: SERVICE.hash, preset: 'service' },
  { name: 'desk', hash: SUPPORT.hash, preset: 'support', apps: ['shop'] },
] as const;

let issuer: Issuer;
beforeAll(async () => (issuer = await Issuer.start()));
afterAll(() => issuer.close());

const ways = (jwt = {}): { readonly auth: AuthOptions; readonly access: ReturnType<typeof accessByPreset> } => ({
  auth: { jwt: { ...issuer.options, clockToleranceSeconds: 0, ...jwt }, apiKeys },
  access: accessByPreset(),
});

const inSeconds = (seconds: number): Promise<string> =>
  issuer.token('ann', { exp: Math.floor(Date.now() / 1000) + seconds });

describe.each(frameworks)('Sign-ins on %s', (framework) => {
  let app: RestApp;
  beforeAll(async () => {
    app = await RestApp.start(framework, ways());
    await app.sessions.createSession(KEY);
    await app.sessions.createSession({ ...KEY, appName: 'bank' });
  });
  afterAll(() => app.close());

  it('are asked for with a challenge', async () => {
    const answer = await app.request('GET', SESSION);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(answer.body).toMatchObject({ code: 'UNAUTHENTICATED', detail: 'Sign in first.' });
  });

  it('that are not valid say why, and not what was sent', async () => {
    const token = await issuer.token('ann', { exp: 1_000 });
    const { status, headers, text } = await app.request('GET', SESSION, undefined, bearer(token));
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe(
      'Bearer error="invalid_token", error_description="The token has expired."',
    );
    expect(text).not.toContain(token);
  });

  it('reach what is theirs by the preset of each', async () => {
    const ann = bearer(await issuer.token('ann'));
    const bob = bearer(await issuer.token('bob'));
    const desk = bearer(SUPPORT.key);
    const read = async (headers: Record<string, string>, path = SESSION): Promise<number> =>
      (await app.request('GET', path, undefined, headers)).status;
    const write = async (headers: Record<string, string>, author = 'user'): Promise<number> =>
      (await app.request('POST', `${SESSION}/events`, { author, content: { parts: [{ text: 'Hi' }] } }, headers))
        .status;
    expect([await read(ann), await read(bob), await read(desk), await read({ 'x-api-key': SERVICE.key })]).toEqual([
      200, 404, 200, 200,
    ]);
    expect([await write(ann), await write(bob), await write(desk), await write(bearer(SERVICE.key), 'shop')]).toEqual([
      201, 404, 403, 201,
    ]);
    expect(await write(ann, 'shop')).toBe(403);
    expect((await app.request('DELETE', SESSION, undefined, desk)).status).toBe(403);
    // The key is for one app.
    expect(await read(desk, SESSION.replace('shop', 'bank'))).toBe(404);
    expect((await app.request('GET', '/apps', undefined, desk)).body).toMatchObject({ apps: ['shop'] });
  });

  it('of an issuer that does not answer are no fault of the client', async () => {
    const broken = await Issuer.start();
    const token = await broken.token('ann');
    broken.failure = { status: 500, body: 'a secret' };
    const other = await RestApp.start(framework, ways({ jwks: broken.url }));
    const answer = await other.request('GET', SESSION, undefined, bearer(token));
    expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([
      503,
      'ISSUER_UNAVAILABLE',
      expect.any(String),
    ]);
    expect(answer.text).not.toContain('secret');
    await Promise.all([other.close(), broken.close()]);
  });

  it('end their streams with them, and the client goes on with a new one', async () => {
    const first = await inSeconds(2);
    const stream = await fetch(`${app.url}${SESSION}/events/stream`, { headers: bearer(first) });
    expect([stream.status, (await stream.text()).includes('problem')]).toEqual([200, false]);
    expect((await app.request('GET', SESSION, undefined, bearer(first))).status).toBe(401);
    const sent: string[] = [];
    const again = new EventEmitter();
    const headers = async (): Promise<Record<string, string>> => {
      const token = await inSeconds(sent.length === 0 ? 2 : 600);
      sent.push(token);
      if (sent.length === 2) again.emit('again');
      return bearer(token);
    };
    const events = new SessionsClient({ url: app.url, headers }).watch({ ...KEY });
    const connectedAgain = once(again, 'again');
    const next = events.next();
    await connectedAgain;
    await app.sessions.appendEvent({
      session: { appName: 'shop', userId: 'ann', id: 's' },
      event: { author: 'agent' },
    });
    expect((await next).value).toMatchObject({ author: 'agent' });
    await events.return?.();
  });
});

describe('Sign-ins over GraphQL', () => {
  it('come by headers, and over WebSockets by the parameters of the connection', async () => {
    const app = await GraphqlApp.start(ways());
    await app.sessions.createSession(KEY);
    const query = '{ session(appName: "shop", userId: "ann", sessionId: "s") { id } }';
    const ask = async (headers: Record<string, string>): Promise<unknown> =>
      (
        await fetch(`${app.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ query }),
        })
      ).json();
    expect(await ask({})).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    expect(await ask(bearer(await issuer.token('ann')))).toEqual({ data: { session: { id: 's' } } });
    const subscription =
      'subscription { eventAppended(appName: "shop", userId: "ann", sessionId: "s", afterSeq: 0) { seq } }';
    const exp = Math.floor(Date.now() / 1000) + 2;
    const said = new Map<string, unknown>();
    const params = {
      none: {},
      ann: { authorization: `Bearer ${await issuer.token('ann', { exp })}` },
      bob: bearer(await issuer.token('bob')),
    };
    await app.sessions.appendEvent({
      session: { appName: 'shop', userId: 'ann', id: 's' },
      event: { author: 'agent' },
    });
    for (const [who, connectionParams] of Object.entries(params)) {
      const client = createClient({
        url: `${app.url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams,
        retryAttempts: 0,
      });
      const results: unknown[] = [];
      try {
        for await (const result of client.iterate({ query: subscription })) {
          results.push(result.errors?.[0]?.extensions?.code ?? result.data);
        }
      } catch (errors) {
        results.push((errors as { extensions: { code: string } }[])[0]?.extensions.code);
      }
      said.set(who, results);
      await client.dispose();
    }
    expect(said.get('none')).toEqual(['UNAUTHENTICATED']);
    expect(said.get('bob')).toEqual(['SESSION_NOT_FOUND']);
    expect(said.get('ann')).toEqual([{ eventAppended: { seq: 1 } }, 'STREAM_EXPIRED']);
    await app.close();
  });
});

describe('The options', () => {
  it.each([
    [{ access: OpenAccess }, /no effect with OpenAccess/],
    [{ access: clientAccess({ userOf: () => ({ id: 'x' }) }) }, /both say who the user is/],
  ])('that have no effect are refused: %#', async (given, reason) => {
    await expect(RestApp.start('Express', { auth: { apiKeys }, ...given })).rejects.toThrow(reason);
  });

  it('need one of the two', () => {
    expect(() => SessionAccessModule.forRoot({})).toThrow(/There is no access rule/);
  });
});
