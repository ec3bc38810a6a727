import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { ExplorerModule } from '../../src/sessions/graphql/explorer/explorer.module.js';
import { GraphqlApp } from './graphql-app.js';

describe('the explorer', () => {
  let app: GraphqlApp | undefined;

  afterEach(async () => {
    await app?.close();
  });

  const statusAt = async (path: string): Promise<number> => (await fetch(`${app?.url}${path}`)).status;

  it('has all that its page names, and nothing from another host', async () => {
    app = await GraphqlApp.start({ explorer: true });
    const pages = [`${app.url}/explorer`];
    const seen = new Set<string>();
    for (let url = pages.pop(); url !== undefined; url = pages.pop()) {
      if (seen.has(url)) continue;
      seen.add(url);
      const response = await fetch(url);
      expect(`${response.status} ${url}`).toBe(`200 ${url}`);
      expect(response.headers.get('content-security-policy')).toMatch(/default-src 'self'|^sandbox/);
      const text = await response.text();
      pages.push(...namedBy(text, response.headers.get('content-type') ?? '', url));
    }
    expect(seen.size).toBeGreaterThan(40);
    for (const url of seen) expect(new URL(url).origin).toBe(app.url);
  });

  it('is there on Fastify as well', async () => {
    const settings = { path: 'dev/graphs', endpoint: '/graphql' };
    const module = await Test.createTestingModule({ imports: [ExplorerModule.at(settings)] }).compile();
    const fastify = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false });
    await fastify.listen(0, '127.0.0.1');
    const url = `${await fastify.getUrl()}/dev/graphs`;
    expect(await (await fetch(url)).text()).toContain('<base href="/dev/graphs/">');
    for (const file of [
      'index.html',
      'iframe-sandbox/index.html',
      'assets/i18n/en-US.json',
      '..%2f..%2fpackage.json',
    ]) {
      const { status } = await fetch(`${url}/${file}`);
      expect(`${status} ${file}`).toBe(`${file.startsWith('..') ? 404 : 200} ${file}`);
    }
    await fastify.close();
  });

  it('asks its own server', async () => {
    app = await GraphqlApp.start({ explorer: { path: 'dev/graphs', endpoint: '/graphql' } });
    const page = await (await fetch(`${app.url}/dev/graphs/`)).text();
    expect(page).toContain('<base href="/dev/graphs/">');
    expect(page).toContain('endpointURL: `/graphql`');
    expect(page).toContain(`subscriptionsEndpoint: \`${app.webSocketUrl}\``);
  });

  it.each([
    '/explorer/none.js',
    '/explorer/..%2f..%2fpackage.json',
    '/explorer/%2e%2e/package.json',
    '/explorer/assets',
  ])('has nothing at %s', async (path) => {
    app = await GraphqlApp.start({ explorer: true });
    expect(await statusAt(path)).toBe(404);
  });

  it('is there only where it is asked for, and in production only where that is meant', async () => {
    app = await GraphqlApp.start();
    expect(await statusAt('/explorer')).toBe(404);
    await app.close();
    process.env.NODE_ENV = 'production';
    try {
      app = await GraphqlApp.start({ explorer: true });
      expect(await statusAt('/explorer')).toBe(404);
      const { errors } = await app.ask('{ __schema { types { name } } }');
      expect(errors[0]?.message).toContain('introspection is not allowed');
      await app.close();
      app = await GraphqlApp.start({ explorer: { inProduction: true } });
      expect(await statusAt('/explorer')).toBe(200);
    } finally {
      process.env.NODE_ENV = 'test';
    }
  });
});

/** What a browser would load for this. Code is searched for the files that it imports. */
function namedBy(text: string, type: string, url: string): string[] {
  const patterns = type.includes('html')
    ? [/(?:src|href)="([^"]+)"/g]
    : type.includes('css')
      ? [/url\("?([^")]+)"?\)/g]
      : type.includes('javascript')
        ? [/(?:from|import)\s*\(?\s*["'](\.\.?\/[^"'`]+\.js)["']/g]
        : [];
  const base = /<base href="([^"]+)"/.exec(text)?.[1] ?? url;
  return patterns
    .flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name))
    .filter((name) => name !== base && !name.startsWith('data:') && !name.startsWith('#'))
    .map((name) => new URL(name, new URL(base, url)).href);
}
