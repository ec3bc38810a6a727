import fs from 'node:fs/promises';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { ExplorerModule } from '../../src/sessions/graphql/explorer/explorer.module.js';
import { GraphqlApp } from './graphql-app.js';

/** Reads the body, since a closing server waits for unread responses. */
const fetchWhole = async (url: string | URL): Promise<Response> => {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response;
};

describe('the explorer', () => {
  let app: GraphqlApp | undefined;

  afterEach(async () => {
    await app?.close();
  });

  const statusAt = async (path: string): Promise<number> => (await fetchWhole(`${app?.url}${path}`)).status;

  it('serves all files of its page, and loads none from another host', async () => {
    app = await GraphqlApp.start({ explorer: true });
    const page = await (await fetch(`${app.url}/explorer`)).text();
    const base = new URL(/<base href="([^"]+)"/.exec(page)?.[1] ?? '', app.url);
    const names = [...page.matchAll(/<(?:script|link rel="stylesheet") (?:src|href)="([^"]+)"/g)].map(
      ([, name = '']) => name,
    );
    expect(names).toHaveLength(6);
    for (const name of names) {
      const url = new URL(name, base);
      expect(url.origin).toBe(app.url);
      const response = await fetchWhole(url);
      expect(`${response.status} ${url.href}`).toBe(`200 ${url.href}`);
      expect(response.headers.get('content-type')).toMatch(name.endsWith('.js') ? /^text\/javascript/ : /^text\/css/);
    }
  });

  it('forbids inline scripts and eval', async () => {
    app = await GraphqlApp.start({ explorer: true });
    const { headers } = await fetchWhole(`${app.url}/explorer`);
    const policy = headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'self'; script-src 'self'; /);
    expect(policy).not.toContain('unsafe-eval');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-powered-by')).toBeNull();
  });

  it('works on Fastify', async () => {
    const settings = { path: 'dev/graphs', endpoint: '/graphql' };
    const module = await Test.createTestingModule({ imports: [ExplorerModule.at(settings)] }).compile();
    const fastify = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false });
    await fastify.listen(0, '127.0.0.1');
    const url = `${await fastify.getUrl()}/dev/graphs`;
    expect(await (await fetch(url)).text()).toContain('<base href="/dev/graphs/"');
    for (const [file, expected] of [
      ['graphiql.min.js', 200],
      ['explorer.js', 200],
      ['..%2f..%2fpackage.json', 404],
    ]) {
      const { status } = await fetchWhole(`${url}/${file}`);
      expect(`${status} ${file}`).toBe(`${expected} ${file}`);
    }
    await fastify.close();
  });

  it('sends requests to its own server', async () => {
    app = await GraphqlApp.start({ explorer: { path: 'dev/graphs', endpoint: '/graphql' } });
    const page = await (await fetch(`${app.url}/dev/graphs/`)).text();
    expect(page).toContain('<base href="/dev/graphs/"');
    expect(page).toContain('data-endpoint="/graphql"');
  });

  it.each(['/explorer/none.js', '/explorer/..%2f..%2fpackage.json', '/explorer/%2e%2e/package.json'])(
    'responds with 404 to %s',
    async (path) => {
      app = await GraphqlApp.start({ explorer: true });
      expect(await statusAt(path)).toBe(404);
    },
  );

  it('names the package to install if a file is missing', async () => {
    const missing = jest.spyOn(fs, 'stat').mockRejectedValue(new Error('ENOENT'));
    try {
      await expect(GraphqlApp.start({ explorer: true })).rejects.toThrow('npm install graphiql@3');
    } finally {
      missing.mockRestore();
    }
  });

  it('is off by default, and needs another option in production', async () => {
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
