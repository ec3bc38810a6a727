import { Logger } from '@nestjs/common';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp, frameworks } from '../rest/rest-app.js';

/** Printed as JSON, so that no id can pretend to be the end of the line. */
const KEY = { appName: 'shop', userId: 'ann)', sessionId: 's "1"' };
const LOGGED = /The request could not be answered.* \(appName "shop", userId "ann\)", sessionId "s \\"1\\""\)$/;
const PATH = `/apps/shop/users/${encodeURIComponent(KEY.userId)}/sessions/${encodeURIComponent(KEY.sessionId)}`;

describe('the log line of a failed request has the ids of the session', () => {
  let logged: string[];

  beforeEach(() => {
    logged = [];
    jest.spyOn(Logger.prototype, 'error').mockImplementation((message: unknown) => void logged.push(String(message)));
  });

  afterEach(() => jest.restoreAllMocks());

  it.each(frameworks)('of REST, and of a stream that breaks, on %s', async (framework) => {
    const app = await RestApp.start(framework);
    await app.sessions.createSession(KEY);
    jest.spyOn(app.sessions, 'listEvents').mockRejectedValueOnce(new Error('damaged'));
    expect((await app.request('GET', `${PATH}/events`)).status).toBe(500);
    // oxlint-disable-next-line require-yield -- it breaks before its first event
    jest.spyOn(app.sessions, 'watch').mockImplementation(async function* () {
      throw new Error('damaged');
    });
    const stream = await app.request('GET', `${PATH}/events/stream`);
    expect(stream.status).toBe(200);
    expect(logged).toEqual([expect.stringMatching(LOGGED), expect.stringMatching(LOGGED)]);
    await app.close();
  });

  it('of GraphQL', async () => {
    const app = await GraphqlApp.start();
    await app.sessions.createSession(KEY);
    jest.spyOn(app.sessions, 'listEvents').mockRejectedValueOnce(new Error('damaged'));
    const document =
      'query ($appName: String!, $userId: String!, $sessionId: String!) { events(appName: $appName, userId: $userId, sessionId: $sessionId) { nodes { id } } }';
    const { errors } = await app.ask(document, KEY);
    expect(errors).toHaveLength(1);
    expect(logged).toEqual([expect.stringMatching(LOGGED)]);
    await app.close();
  });
});
