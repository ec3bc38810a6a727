import { createHmac, generateKeyPairSync } from 'node:crypto';
import { type AuthOptions, IssuerUnavailableError, NotSignedInError } from '../../src/sessions/rest/index.js';
import { SignIn } from '../../src/sessions/auth/sign-in.js';
import { type SignedInUser } from '../../src/sessions/auth/signed-in-user.js';
import { AUDIENCE, ISSUER, Issuer, type TokenClaims, bearer, claimsFor } from './issuer.js';

const SECONDS = 1_000;
let issuer: Issuer;
/** The clock of the app. */
let now: number;
beforeEach(async () => {
  issuer = await Issuer.start();
  now = Date.now();
});
afterEach(() => issuer.close());

const signIn = (jwt: Partial<NonNullable<AuthOptions['jwt']>> = {}): Promise<SignIn> =>
  SignIn.load({ jwt: { ...issuer.options, ...jwt } }, () => now);

const base64 = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

async function refusal(ways: SignIn, token: string): Promise<string> {
  try {
    await ways.identify({ headers: bearer(token) });
  } catch (error) {
    if (!(error instanceof NotSignedInError)) throw error;
    expect(error.challenge).toBe(`Bearer error="invalid_token", error_description="${error.message}"`);
    expect(error.challenge).not.toContain(token);
    return error.message;
  }
  throw new Error('The token was accepted.');
}

async function userOf(ways: SignIn, token: string): Promise<SignedInUser> {
  return (await ways.identify({ headers: bearer(token) }))?.user as SignedInUser;
}

const inSeconds = (seconds: number): number => Math.floor(now / SECONDS) + seconds;

describe('A token', () => {
  it('names its user, and counts until it ends', async () => {
    const ways = await signIn();
    const exp = inSeconds(60);
    const identity = await ways.identify({ headers: bearer(await issuer.token('ann', { exp, roles: ['editor'] })) });
    expect(identity).toMatchObject({
      user: { id: 'ann', preset: 'client', roles: ['editor'] },
      until: (exp + 5) * SECONDS,
    });
  });

  it.each<[string, TokenClaims, string]>([
    ['has expired', { exp: 1_000 }, 'The token has expired.'],
    ['is not valid yet', { nbf: 4_000_000_000 }, 'The token is not valid yet.'],
    ['is for another audience', { aud: 'bank' }, 'The token is for another audience.'],
    ['has no audience', { aud: undefined }, 'The token is for another audience.'],
    ['is of another issuer', { iss: 'https://login.example' }, 'The token is of another issuer.'],
    ['has no issuer', { iss: undefined }, 'The token is of another issuer.'],
    ['never ends', { exp: undefined }, 'The token does not say when it ends.'],
    ['has no user', { sub: undefined }, 'The token names no user.'],
    ['has an empty user', { sub: '' }, 'The token names no user.'],
  ])('that %s is refused', async (_what, claims, reason) => {
    expect(await refusal(await signIn(), await issuer.token('ann', claims))).toBe(reason);
  });

  it('of five seconds too early or late is accepted, and with no tolerance it is not', async () => {
    const late = await issuer.token('ann', { exp: inSeconds(-4) });
    const early = await issuer.token('ann', { nbf: inSeconds(4) });
    const ways = await signIn();
    expect([(await userOf(ways, late)).id, (await userOf(ways, early)).id]).toEqual(['ann', 'ann']);
    const strict = await signIn({ clockToleranceSeconds: 0 });
    expect(await refusal(strict, late)).toBe('The token has expired.');
    expect(await refusal(strict, early)).toBe('The token is not valid yet.');
  });

  it('without a signature is refused, and nobody asks for keys', async () => {
    const payload = base64(claimsFor('ann', {}));
    const ways = await signIn();
    for (const alg of ['none', 'None', 'NONE']) {
      expect(await refusal(ways, `${base64({ alg })}.${payload}.`)).toBe('The algorithm of the token is not accepted.');
    }
    expect(issuer.asked).toBe(0);
  });

  it('that is signed with the public key as a secret is refused', async () => {
    const pem = await issuer.publicPem();
    const [jwk] = (await issuer.keySet()).keys;
    const signed = `${base64({ alg: 'HS256', kid: 'key-1' })}.${base64(claimsFor('ann', {}))}`;
    for (const secret of [pem, pem.trim(), JSON.stringify(jwk)]) {
      const token = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
      for (const ways of [await signIn(), await signIn({ jwks: undefined, publicKeys: [pem] })]) {
        expect(await refusal(ways, token)).toBe('The algorithm of the token is not accepted.');
      }
    }
  });

  it('that brings its own key, or the address of one, is refused', async () => {
    const stranger = await Issuer.start();
    const [jwk] = (await stranger.keySet()).keys;
    for (const header of [{ jwk }, { jku: stranger.url }, { x5u: stranger.url }]) {
      const token = await stranger.token('ann', {}, header);
      expect(await refusal(await signIn(), token)).toBe('The signature of the token is wrong.');
    }
    expect(stranger.asked).toBe(0);
    await stranger.close();
  });

  it('that was changed is refused', async () => {
    const [header, , signature] = (await issuer.token('ann')).split('.');
    const token = `${header}.${base64(claimsFor('bob', {}))}.${signature}`;
    expect(await refusal(await signIn(), token)).toBe('The signature of the token is wrong.');
  });

  it.each(['x', 'a.b.c', '..', 'eyJhbGciOiJFUzI1NiJ9..', `${'a'.repeat(100_000)}.b.c`])(
    'that is none is refused: %.20s',
    async (token) => {
      expect(await refusal(await signIn(), token)).toMatch(/^The (token is not|signature of) /);
    },
  );

  it('of an algorithm that the app does not list is refused', async () => {
    const ways = await signIn({ algorithms: ['RS256'] });
    expect(await refusal(ways, await issuer.token('ann'))).toBe('The algorithm of the token is not accepted.');
  });
});

describe('Claims', () => {
  it('say the user, the apps and the roles, by name and by the way to them', async () => {
    const ways = await signIn({ user: 'https://shop.example/id', apps: 'apps', roles: 'realm_access.roles' });
    const token = await issuer.token('x', {
      'https://shop.example/id': 'ann',
      apps: ['shop', 7],
      realm_access: { roles: ['editor'] },
    });
    expect(await userOf(ways, token)).toMatchObject({ id: 'ann', apps: ['shop'], roles: ['editor'] });
  });

  it('that should name the apps, and do not, are for none', async () => {
    expect(await userOf(await signIn({ apps: 'apps' }), await issuer.token('ann'))).toMatchObject({ apps: [] });
  });

  it.each<[TokenClaims, string]>([
    [{ scope: 'openid sessions:service' }, 'service'],
    [{ scp: ['sessions:support'] }, 'support'],
    [{ roles: ['viewer'] }, 'readonly'],
    [{ roles: ['viewer', 'sessions:service'] }, 'service'],
    [{ scope: 'sessions:services', preset: 'service', roles: ['service'] }, 'client'],
  ])('%j give the preset %s', async (claims, preset) => {
    const ways = await signIn({ service: 'sessions:service', support: 'sessions:support', readonly: 'viewer' });
    expect(await userOf(ways, await issuer.token('ann', claims))).toMatchObject({ preset });
  });

  it('make nobody a service where none is named', async () => {
    const token = await issuer.token('ann', { roles: ['service', ''], scope: '' });
    expect(await userOf(await signIn(), token)).toMatchObject({ preset: 'client' });
  });
});

describe('The keys of the issuer', () => {
  it('are asked for once by many', async () => {
    const ways = await signIn();
    const token = await issuer.token('ann');
    await Promise.all(Array.from({ length: 50 }, () => userOf(ways, token)));
    expect(issuer.asked).toBe(1);
  });

  it('may rotate: a new one is found, after the cooldown of the last answer', async () => {
    const ways = await signIn();
    await userOf(ways, await issuer.token('ann'));
    await issuer.rotate();
    const token = await issuer.token('ann');
    expect(await refusal(ways, token)).toBe('The key of the token is not known.');
    now += 31 * SECONDS;
    expect((await userOf(ways, token)).id).toBe('ann');
    expect(issuer.asked).toBe(2);
  });

  it('that the issuer takes back are refused, ten minutes later at the latest', async () => {
    const ways = await signIn();
    const token = await issuer.token('ann', { exp: inSeconds(3_600) });
    await userOf(ways, token);
    await issuer.rotate('ES256', true);
    now += 601 * SECONDS;
    expect(await refusal(ways, token)).toBe('The key of the token is not known.');
  });

  it('are not asked for by tokens with keys that nobody knows', async () => {
    const ways = await signIn();
    const tokens = await Promise.all(
      Array.from({ length: 60 }, (_, index) => issuer.token('ann', {}, { kid: `k${index}` })),
    );
    const said = await Promise.all(tokens.map((token) => refusal(ways, token)));
    expect(new Set(said)).toEqual(new Set(['The key of the token is not known.']));
    for (const token of tokens) await refusal(ways, token);
    expect(issuer.asked).toBe(1);
    now += 31 * SECONDS;
    await Promise.all(tokens.map((token) => refusal(ways, token)));
    expect(issuer.asked).toBe(2);
  });

  it.each([
    [503, 'down'],
    [200, '<html>'],
    [200, '{"keys":5}'],
    [200, `"${'x'.repeat(300_000)}"`],
    [302, ''],
  ])('that cannot be read are no fault of the token: %d %.10s', async (status, body) => {
    issuer.failure = { status, body };
    const ways = await signIn();
    const token = await issuer.token('ann');
    const asks = Array.from({ length: 20 }, () => ways.identify({ headers: bearer(token) }));
    for (const asked of await Promise.allSettled(asks)) {
      expect(asked).toMatchObject({ status: 'rejected', reason: expect.any(IssuerUnavailableError) });
    }
    await expect(userOf(ways, token)).rejects.toThrow(IssuerUnavailableError);
    expect(issuer.asked).toBe(1);
    issuer.failure = undefined;
    now += 6 * SECONDS;
    expect((await userOf(ways, token)).id).toBe('ann');
  });

  it('that are known are used for an hour while the issuer does not answer', async () => {
    const ways = await signIn();
    const token = await issuer.token('ann', { exp: inSeconds(9_000) });
    await userOf(ways, token);
    issuer.failure = { status: 500, body: '' };
    now += 3_500 * SECONDS;
    expect((await userOf(ways, token)).id).toBe('ann');
    now += 200 * SECONDS;
    await expect(userOf(ways, token)).rejects.toThrow(IssuerUnavailableError);
  });
});

describe('Public keys in the settings', () => {
  it.each(['RS256', 'PS256', 'ES384', 'EdDSA'])('accept tokens of %s, also beside other keys', async (alg) => {
    const other = await Issuer.start(alg);
    const others = [
      await issuer.publicPem(),
      generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }) as string,
    ];
    const ways = await signIn({ jwks: undefined, publicKeys: [...others, await other.publicPem()] });
    expect((await userOf(ways, await other.token('ann'))).id).toBe('ann');
    const stranger = await Issuer.start(alg);
    expect(await refusal(ways, await stranger.token('ann'))).toMatch(/signature|key/);
    await Promise.all([other.close(), stranger.close()]);
  });

  it('may be a key set, with and without ids', async () => {
    const { keys } = await issuer.keySet();
    await issuer.rotate();
    const both = [...keys, ...(await issuer.keySet()).keys].map((key) => ({ ...key, kid: undefined }));
    const ways = await signIn({ jwks: { keys: both } });
    const token = await issuer.token('ann', {}, { kid: undefined });
    expect((await userOf(ways, token)).id).toBe('ann');
  });
});

describe('The options', () => {
  const PRIVATE = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

  it.each<[object, RegExp]>([
    [{}, /auth must have from, jwt or apiKeys/],
    [{ jwt: { issuer: ISSUER, audience: AUDIENCE } }, /auth\.jwt\.jwks or auth\.jwt\.publicKeys is needed/],
    [{ jwt: { jwks: 'https://login.example/keys', audience: AUDIENCE } }, /auth\.jwt\.issuer is missing/],
    [{ jwt: { jwks: 'https://login.example/keys', issuer: ISSUER } }, /auth\.jwt\.audience is missing/],
    [{ jwt: { jwks: 'https://login.example/keys', issuer: ISSUER, audience: '' } }, /auth\.jwt\.audience/],
    [{ jwt: { jwks: 'http://login.example/keys', issuer: ISSUER, audience: AUDIENCE } }, /auth\.jwt\.jwks .* https/],
    [{ jwt: { jwks: 'file:///keys', issuer: ISSUER, audience: AUDIENCE } }, /auth\.jwt\.jwks/],
    [{ jwt: { publicKeys: [PRIVATE], issuer: ISSUER, audience: AUDIENCE } }, /auth\.jwt\.publicKeys/],
    [{ jwt: { publicKeys: ['-----BEGIN PUBLIC KEY-----\nx'], issuer: ISSUER, audience: AUDIENCE } }, /publicKeys\[0\]/],
    ...['none', 'HS256', 'RS1'].map((alg): [object, RegExp] => [
      { jwt: { jwks: 'https://a.example', issuer: ISSUER, audience: AUDIENCE, algorithms: [alg] } },
      /algorithms/,
    ]),
    [{ jwt: { jwks: 'https://a.example', issuer: ISSUER, audience: AUDIENCE, isuer: 1 } }, /isuer is no option/],
    [{ form: () => 1 }, /auth\.form is no option/],
    [{ from: 'user' }, /auth\.from must be a function/],
  ])('are refused: %j', async (auth, reason) => {
    const message = await SignIn.load(auth).then(() => 'accepted', String);
    expect(message).toMatch(reason);
    expect(message).not.toContain('PRIVATE KEY');
  });
});
