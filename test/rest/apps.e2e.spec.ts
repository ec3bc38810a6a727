import { ALL_CALLERS, HEADERS, OwnSessions } from '../support/callers.js';
import { type AccessRequest, SessionAccess } from '../../src/sessions/rest/index.js';
import { RestApp, frameworks } from './rest-app.js';

/** A tenant is an app: its admin may do anything in it, and its users what is their own. */
class Tenants extends SessionAccess {
  override userOf(request: { readonly headers: Readonly<Record<string, string | undefined>> }): unknown {
    const { 'x-user': id, 'x-app': app } = request.headers;
    return id === undefined ? undefined : { id, app };
  }

  allows({ user, userId, appName }: AccessRequest): boolean {
    return user.app === appName && (user.id === 'admin' || userId === user.id);
  }
}

describe.each(frameworks)('GET /apps on %s', (framework) => {
  async function started(access: new () => SessionAccess): Promise<RestApp> {
    const app = await RestApp.start(framework, { access });
    for (const appName of ['shop', 'bank', 'café']) await app.sessions.createSession({ appName, userId: 'ann' });
    return app;
  }

  it('lists the apps in the order of their names, page by page', async () => {
    const app = await started(OwnSessions);
    const { 'the admin': headers } = HEADERS;
    expect((await app.request('GET', '/apps', undefined, headers)).body).toEqual({
      apps: ['bank', 'café', 'shop'],
      limit: 100,
    });
    const pages: unknown[] = [];
    let cursor = '';
    do {
      const { body } = await app.request('GET', `/apps?limit=2${cursor}`, undefined, headers);
      pages.push(body.apps);
      cursor = typeof body.nextCursor === 'string' ? `&cursor=${encodeURIComponent(body.nextCursor)}` : '';
    } while (cursor !== '');
    expect(pages).toEqual([['bank', 'café'], ['shop']]);
    await app.close();
  });

  it('names no app to those who may not list all its sessions', async () => {
    const app = await started(OwnSessions);
    for (const who of ALL_CALLERS.filter((each) => each !== 'the admin')) {
      const { status, body } = await app.request('GET', '/apps', undefined, HEADERS[who]);
      if (who === 'anonymous') expect([status, body.code]).toEqual([401, 'UNAUTHENTICATED']);
      else expect([status, body]).toEqual([200, { apps: [], limit: 100 }]);
    }
    await app.close();
  });

  it('names to the admin of an app only this one', async () => {
    const app = await started(Tenants);
    const { body } = await app.request('GET', '/apps?limit=1', undefined, { 'x-user': 'admin', 'x-app': 'café' });
    expect(body).toEqual({ apps: ['café'], limit: 1 });
    await app.close();
  });

  it('asks the store nothing for callers without a user', async () => {
    const app = await started(OwnSessions);
    const listApps = jest.spyOn(app.sessions, 'listApps');
    await app.request('GET', '/apps');
    expect(listApps).not.toHaveBeenCalled();
    await app.close();
  });
});
