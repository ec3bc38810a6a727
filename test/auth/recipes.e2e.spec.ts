import { createClerkClient } from '@clerk/backend';
import { type CanActivate, Injectable, Module, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import { Test } from '@nestjs/testing';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { SessionService, SessionsModule } from '../../src/index.js';
import {
  type AuthOptions,
  ProblemFilter,
  SessionAccessModule,
  SessionsRestModule,
} from '../../src/sessions/rest/index.js';
import { HTTP_APP } from '../support/http-app.js';
import { AUDIENCE, ISSUER, Issuer, bearer } from './issuer.js';

/** How an app finds its users by a package, and what a client of it sends. */
interface Recipe {
  readonly from: NonNullable<AuthOptions['from']>;
  readonly guard?: Type<CanActivate>;
  readonly providers?: Type<object>[];
  tokenOf(user: string, isExpired: boolean): Promise<string>;
}

let issuer: Issuer;
beforeAll(async () => (issuer = await Issuer.start('RS256')));
afterAll(() => issuer.close());

const ends = (isExpired: boolean): { readonly exp: number; readonly nbf: number } => {
  const now = Math.floor(Date.now() / 1000);
  return isExpired ? { exp: now - 300, nbf: now - 600 } : { exp: now + 300, nbf: now - 5 };
};

async function passport(): Promise<Recipe> {
  const secretOrKey = await issuer.publicPem();

  @Injectable()
  class JwtStrategy extends PassportStrategy(Strategy) {
    constructor() {
      const jwtFromRequest = ExtractJwt.fromAuthHeaderAsBearerToken();
      super({ jwtFromRequest, secretOrKey, algorithms: ['RS256'], issuer: ISSUER, audience: AUDIENCE });
    }

    validate({ sub }: { readonly sub: string }): { readonly id: string } {
      return { id: sub };
    }
  }
  return {
    from: ({ user }) => user,
    guard: AuthGuard('jwt'),
    providers: [JwtStrategy],
    tokenOf: (user, isExpired) => issuer.token(user, ends(isExpired)),
  };
}

/** With the key of its tokens, Clerk asks nobody. */
async function clerk(): Promise<Recipe> {
  const publishableKey = `pk_test_${Buffer.from('login.example$').toString('base64')}`;
  const client = createClerkClient({ publishableKey, secretKey: 'sk_test_x', jwtKey: await issuer.publicPem() });
  return {
    from: async ({ headers = {} }) => {
      const asked = new Request('https://shop.example/', {
        headers: { authorization: String(headers.authorization ?? '') },
      });
      const { userId } = (await client.authenticateRequest(asked)).toAuth() ?? {};
      return userId ? { id: userId } : undefined;
    },
    tokenOf: (user, isExpired) =>
      issuer.token(user, {
        ...ends(isExpired),
        iss: 'https://login.example',
        aud: undefined,
        sid: 'sess_1',
        azp: undefined,
      }),
  };
}

describe.each([
  ['Passport with a JWT', passport],
  ['Clerk with a local key', clerk],
])('The recipe for %s', (_name, make) => {
  it('lets users reach their own sessions, and nobody else', async () => {
    const recipe = await make();
    @Module({
      imports: [
        PassportModule,
        SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
        SessionAccessModule.forRoot({ auth: { from: recipe.from } }),
        SessionsRestModule.forRoot(),
      ],
      providers: [
        ...(recipe.providers ?? []),
        ...(recipe.guard ? [{ provide: APP_GUARD, useClass: recipe.guard }] : []),
      ],
    })
    class RecipeModule {}
    const module = await Test.createTestingModule({ imports: [RecipeModule] }).compile();
    const app = module.createNestApplication(HTTP_APP);
    app.useGlobalFilters(new ProblemFilter());
    await app.listen(0, '127.0.0.1');
    await app.get(SessionService).createSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
    const stranger = await Issuer.start('RS256');
    const statusFor = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${await app.getUrl()}/apps/shop/users/ann/sessions/s`, { headers })).status;
    expect({
      owner: await statusFor(bearer(await recipe.tokenOf('ann', false))),
      other: await statusFor(bearer(await recipe.tokenOf('bob', false))),
      late: await statusFor(bearer(await recipe.tokenOf('ann', true))),
      forged: await statusFor(bearer(await stranger.token('ann'))),
      nobody: await statusFor({}),
    }).toEqual({ owner: 200, other: 404, late: 401, forged: 401, nobody: 401 });
    await Promise.all([app.close(), stranger.close()]);
  });
});
