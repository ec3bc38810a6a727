import { readFile, readdir } from 'node:fs/promises';
import { type DynamicModule, type INestApplication } from '@nestjs/common';
import { SessionsInspectorModule, type InspectorModuleOptions } from '../../src/inspector/index.js';
import { type Framework, RestApp, frameworks } from '../rest/rest-app.js';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'self'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";
const KIB = 1024;
const FOLDER = 'dist/inspector/page/';

/** What clients accept, and what they get. */
const ENCODINGS = [
  ['br, gzip;q=0.5', 'gzip'],
  ['gzip;q=0, br', null],
] as const;

describe.each(frameworks)('the page of the inspector on %s', (framework) => {
  let app: RestApp;
  afterEach(() => app.close());

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(app.url + path, { headers: { connection: 'close', ...headers } });

  const baseBehind = async (prefix: string): Promise<string> =>
    baseIn(await (await get('/inspector/?a=b', { 'x-forwarded-prefix': prefix })).text());

  it('loads its files and the routes of sessions from where it is mounted', async () => {
    app = await start(
      framework,
      { route: '/admin/inspector', api: 'v1', actions: ['rewind', 'fork'] },
      { path: 'v1' },
      (nest) => nest.setGlobalPrefix('api'),
    );
    const page = await get('/api/admin/inspector');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toBe(POLICY);
    expect(page.headers.get('cache-control')).toBe('no-store');
    const html = await page.text();
    expect(html).not.toMatch(/<style|style=|<script(?! type="module" src=)|\son\w+=/);
    const base = new URL(app.url + baseIn(html));
    expect(base.pathname).toBe('/api/admin/inspector/');
    const config = (await (await fetch(new URL('config.json', base))).json()) as { api: string; actions: string[] };
    expect(config).toEqual({ api: '../../v1', actions: ['rewind', 'fork'], search: false });
    expect((await fetch(new URL(`${config.api}/apps`, base))).status).toBe(200);
    for (const [, file = ''] of html.matchAll(/(?:href|src)="(?<file>files\/[^"]+)"/g)) {
      const plain = await fetch(new URL(file, base), { headers: { 'accept-encoding': 'identity' } });
      expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const bytes = await plain.text();
      for (const [accepted, encoding] of ENCODINGS) {
        const packed = await fetch(new URL(file, base), { headers: { 'accept-encoding': accepted } });
        expect(packed.headers.get('content-encoding')).toBe(encoding);
        expect(await packed.text()).toBe(bytes);
      }
    }
    expect((await get('/api/admin/inspector/files/names.json')).status).toBe(404);
    expect((await get('/api/admin/inspector/files/..%2Fnames.json')).status).toBe(404);
  });

  it('is found behind a proxy that takes a prefix away, and by no other name', async () => {
    app = await start(framework);
    expect(await baseBehind('/tools/agents')).toBe('/tools/agents/inspector/');
    for (const hostile of ['//evil.example', 'https://evil.example', '/"><script>', '/a b']) {
      expect(await baseBehind(hostile)).toBe('/inspector/');
    }
  });

  it('is opened to those whom the app lets in', async () => {
    app = await start(framework, { access: isAdmin, actions: true });
    for (const path of ['/inspector', '/inspector/config.json']) {
      expect((await get(path)).status).toBe(403);
      expect((await get(path, { 'x-role': 'admin' })).status).toBe(200);
    }
  });

  it('is closed by an answer of the app that is neither yes nor no, which is an error of the app', async () => {
    app = await start(framework, { access: (() => 'yes') as never });
    expect((await get('/inspector')).status).toBe(500);
  });
});

describe('the inspector', () => {
  let app: RestApp | undefined;
  afterEach(() => app?.close());

  it.each([
    [{ acess: () => true }, /acess is no option/],
    [{ actions: ['rewnd'] }, /no action "rewnd"/],
    [{ actions: 'rewind' }, /actions is "rewind"; it must be true, false or a list/],
    [{ search: 'yes' }, /search is "yes"/],
    [{ access: true }, /access is true; it must be a function/],
    [{ publicUrl: '/inspector' }, /publicUrl must be an address/],
    [{ traceUrl: 'javascript:alert(1)//{sessionId}' }, /traceUrl must be an address/],
    [{ traceUrl: 'https://{sessionId}.example.com/' }, /traceUrl must be an address/],
    [{ traceUrl: 'https://example.com/{traceId}' }, /traceUrl has no \{traceId\}/],
    [{ traceUrl: 'https://example.com/' }, /traceUrl must have \{sessionId\}/],
    [{ route: '/' }, /route must be a path/],
    [{ route: 'a b' }, /route must be a path/],
  ])('refuses %j', (options, problem) => {
    expect(() => SessionsInspectorModule.forRoot(options as InspectorModuleOptions)).toThrow(problem);
  });

  it('refuses unknown options of a factory when the app starts', async () => {
    const module = SessionsInspectorModule.forRootAsync({ useFactory: () => ({ readOnly: true }) as never });
    await expect(started('Express', module)).rejects.toThrow(/readOnly is no option/);
  });

  it('is loaded with less than 60 KiB, has less than 120 in all, and a copy of it to share is no larger', async () => {
    const { url } = (app = await start('Express'));
    const html = await (await fetch(`${url}/inspector`)).text();
    const sizeOf = async (name: string): Promise<number> => {
      const answer = await fetch(`${url}/inspector/files/${name}`, { headers: { 'accept-encoding': 'gzip' } });
      return Number(answer.headers.get('content-length'));
    };
    const named = [...html.matchAll(/(?:href|src)="files\/(?<file>[^"]+)"/g)].map(([, file = '']) => file);
    expect(named).toHaveLength(2);
    const names = await withImports(named);
    const first = Buffer.byteLength(html) + (await sumOf(names.map(sizeOf)));
    expect(first).toBeGreaterThan(10 * KIB);
    expect(first).toBeLessThan(60 * KIB);
    // What a shared file holds is the same code again, as text. It is loaded by those who share.
    const files = (await readdir(FOLDER)).filter((name) => /\.(js|css)$/.test(name));
    const texts = await Promise.all(files.map((name) => readFile(FOLDER + name, 'utf8')));
    const copies = files.filter((_name, index) => texts[index]?.includes('<!doctype html>'));
    expect(copies).toHaveLength(1);
    const rest = await sumOf(files.filter((name) => !copies.includes(name)).map(sizeOf));
    expect(rest).toBeLessThan(120 * KIB);
    expect(await sumOf(copies.map(sizeOf))).toBeLessThan(rest);
  });
});

/** These files, and those that a browser loads with them. What is imported later is not named so. */
async function withImports(names: readonly string[]): Promise<string[]> {
  const all = new Set(names);
  for (const name of all) {
    const text = await readFile(FOLDER + name, 'utf8');
    for (const [, imported = ''] of text.matchAll(/(?:from|import)"\.\/(?<file>[^"]+\.js)"/g)) all.add(imported);
  }
  return [...all];
}

async function sumOf(sizes: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function isAdmin({ headers }: { headers: Record<string, string> }): boolean {
  return headers['x-role'] === 'admin';
}

function baseIn(html: string): string {
  return /<base href="(?<base>[^"]+)"/.exec(html)?.groups?.base ?? '';
}

function start(
  framework: Framework,
  options: InspectorModuleOptions = {},
  rest: { readonly path?: string } = {},
  prepare?: (app: INestApplication) => void,
): Promise<RestApp> {
  return started(framework, SessionsInspectorModule.forRoot(options), { ...rest, ...(prepare && { prepare }) });
}

function started(
  framework: Framework,
  inspector: DynamicModule,
  rest: Parameters<typeof RestApp.start>[1] = {},
): Promise<RestApp> {
  return RestApp.start(framework, { ...rest, imports: [inspector] });
}
