import { readFileSync } from 'node:fs';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import { SessionService, SessionsModule } from '../../src/index.js';
import { ProblemFilter, SessionAccessModule, SessionsRestModule } from '../../src/sessions/rest/index.js';
import { HTTP_APP } from '../support/http-app.js';

/** Where the app says that it is, for the cookies. */
const ORIGIN = 'http://shop.example';

const tables = { user: [], session: [] as { token: string; expiresAt: Date }[], account: [], verification: [] };
const auth = betterAuth({
  baseURL: ORIGIN,
  secret: 'a-secret-of-this-test-with-32-characters',
  database: memoryAdapter(tables),
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
});

@Module({
  imports: [
    SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
    SessionAccessModule.forRoot({
      auth: {
        from: async ({ headers = {} }) => (await auth.api.getSession({ headers: fromNodeHeaders(headers) }))?.user,
      },
    }),
    SessionsRestModule.forRoot(),
  ],
})
class RecipeModule {}

interface SignedIn {
  readonly id: string;
  readonly token: string;
  readonly cookie: string;
}

describe('The recipe for better-auth', () => {
  it('lets users reach their own sessions until they sign out, and nobody else', async () => {
    const module = await Test.createTestingModule({ imports: [RecipeModule] }).compile();
    const app = module.createNestApplication(HTTP_APP);
    app.getHttpAdapter().all('/api/auth/*splat', toNodeHandler(auth));
    app.useGlobalFilters(new ProblemFilter());
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const ask = (path: string, body: object, headers = {}): Promise<Response> =>
      fetch(`${url}/api/auth/${path}`, {
        method: 'POST',
        headers: { origin: ORIGIN, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const signIn = async (path: string, name: string): Promise<SignedIn> => {
      const response = await ask(path, { name, email: `${name}@shop.example`, password: 'correct-horse-battery' });
      expect(response.status).toBe(200);
      const { user, token } = (await response.json()) as { user: { id: string }; token: string };
      const cookie = response.headers.getSetCookie().map((each) => each.split(';')[0]);
      return { id: user.id, token, cookie: cookie.join('; ') };
    };

    const ann = await signIn('sign-up/email', 'ann');
    const late = await signIn('sign-in/email', 'ann');
    const bob = await signIn('sign-up/email', 'bob');
    const expired = tables.session.find(({ token }) => token === late.token);
    Object.assign(expired ?? {}, { expiresAt: new Date(Date.now() - 1_000) });
    await app.get(SessionService).createSession({ appName: 'shop', userId: ann.id, sessionId: 's' });
    const statusFor = async (cookie?: string): Promise<number> => {
      const headers: Record<string, string> = cookie === undefined ? {} : { cookie };
      return (await fetch(`${url}/apps/shop/users/${ann.id}/sessions/s`, { headers })).status;
    };
    expect({
      owner: await statusFor(ann.cookie),
      other: await statusFor(bob.cookie),
      late: await statusFor(late.cookie),
      forged: await statusFor(ann.cookie.replace(ann.token, late.token)),
      nobody: await statusFor(),
    }).toEqual({ owner: 200, other: 404, late: 401, forged: 401, nobody: 401 });
    expect((await ask('sign-out', {}, { cookie: ann.cookie })).status).toBe(200);
    expect(await statusFor(ann.cookie)).toBe(401);
    await app.close();
  });

  it('is that of the docs', () => {
    const [, recipe = 'none'] = /^ *from: (.*getSession.*),$/m.exec(readFileSync(__filename, 'utf8')) ?? [];
    expect(readFileSync('docs/tasks/sign-in.md', 'utf8')).toContain(recipe);
  });
});
