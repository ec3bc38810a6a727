import { commonApp } from './common-app.js';
import { RunningApp } from './running-app.js';

describe('the start page of the running app', () => {
  let production: RunningApp | undefined;
  afterAll(() => production?.remove());

  it.each([
    [
      'development',
      ['inspector', 'demo', 'apps', 'rest', 'agents', 'docs', 'openapi', 'graphql', 'explorer', 'health'],
      commonApp,
    ],
    ['production', ['inspector', 'apps', 'rest', 'agents', 'docs', 'openapi', 'graphql', 'health'], startProduction],
  ])('links what is mounted in %s, for browsers and for programs', async (_environment, names, open) => {
    const app = await open();
    const forPrograms = await fetch(app.url);
    expect(forPrograms.headers.get('content-type')).toMatch(/^application\/json/);
    const { links } = (await forPrograms.json()) as { links: Record<string, string> };
    expect(Object.keys(links)).toEqual(names);

    const forBrowsers = await fetch(app.url, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
    expect(forBrowsers.headers.get('content-type')).toMatch(/^text\/html/);
    expect(forBrowsers.headers.get('vary')).toContain('Accept');
    const html = await forBrowsers.text();
    for (const path of Object.values(links)) {
      const isEndpoint = ['demo', 'rest', 'graphql'].some((name) => path === links[name]);
      expect(html).toContain(isEndpoint ? `<code>${path}</code>` : `<a href="${path}">`);
      const { status } = await fetch(app.url + path.replace('{app}', 'shop').replace('{user}', 'ann'));
      // A GraphQL endpoint returns 400 for a request without a query.
      expect([path, status]).toEqual([path, path === links['graphql'] ? 400 : 200]);
    }
    expect((await fetch(`${app.url}/explorer`)).status).toBe(names.includes('explorer') ? 200 : 404);
  });

  async function startProduction(): Promise<RunningApp> {
    const settings = { SESSIONS_PROVIDER: 'memory', NODE_ENV: 'production', SESSIONS_ACCESS: 'open' };
    return (production = await RunningApp.start(settings));
  }
});
