import { cli } from '../cli/terminal.js';
import { SignIn } from '../../src/sessions/auth/sign-in.js';
import { makeApiKey } from '../../src/sessions/auth/api-keys.js';
import { NotSignedInError } from '../../src/sessions/rest/index.js';
import { Issuer, bearer } from './issuer.js';

const { key, hash } = makeApiKey();
const CI = { name: 'ci', hash, preset: 'service' } as const;

describe('An API key', () => {
  it('is random, and its hash does not show it', () => {
    expect(key).toMatch(/^agsk_[\w-]{43}$/);
    expect(makeApiKey().key).not.toBe(key);
    expect(hash).not.toContain(key.slice(5));
  });

  it.each([bearer(key), { authorization: `bearer ${key}` }, { 'x-api-key': key }])(
    'signs in by %j',
    async (headers) => {
      const ways = await SignIn.load({ apiKeys: [{ ...CI, apps: ['shop'] }] });
      expect(await ways.identify({ headers })).toMatchObject({ user: { id: 'ci', preset: 'service', apps: ['shop'] } });
      expect(await ways.identify({ connectionParams: { Authorization: `Bearer ${key}` } })).toMatchObject({
        user: { id: 'ci' },
      });
    },
  );

  it('is for the user that it names', async () => {
    const ways = await SignIn.load({ apiKeys: [{ ...CI, preset: 'client', user: 'ann' }] });
    expect(await ways.identify({ headers: bearer(key) })).toMatchObject({ user: { id: 'ann', preset: 'client' } });
  });

  it('ends with its day', async () => {
    let now = Date.parse('2027-01-31T23:59:59.000Z');
    const ways = await SignIn.load({ apiKeys: [{ ...CI, expires: '2027-01-31' }] }, () => now);
    expect(await ways.identify({ headers: bearer(key) })).toMatchObject({ until: now + 999 });
    now += 1_000;
    await expect(ways.identify({ headers: bearer(key) })).rejects.toThrow('The API key has expired.');
  });

  it('that is not known is refused, and not shown', async () => {
    const ways = await SignIn.load({ apiKeys: [CI] });
    for (const wrong of [makeApiKey().key, `${key}x`, key.slice(0, -1), hash, 'x']) {
      const said = await ways.identify({ headers: bearer(wrong) }).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(said).toBeInstanceOf(NotSignedInError);
      expect(JSON.stringify([String(said), said])).not.toContain(wrong === 'x' ? key : wrong);
    }
  });

  it('is refused in an address, even if a header has it too', async () => {
    const issuer = await Issuer.start();
    const token = await issuer.token('ann');
    const ways = await SignIn.load({ apiKeys: [CI], jwt: issuer.options });
    for (const query of [`access_token=${key}`, `x=${key}`, 'API_KEY=5', `token=${token}`, `a=Bearer%20${token}`]) {
      for (const place of ['url', 'originalUrl']) {
        const asked = ways.identify({ [place]: `/apps?limit=1&${query}`, headers: bearer(key) });
        await expect(asked).rejects.toMatchObject({ challenge: expect.stringContaining('invalid_request') });
      }
    }
    expect(await ways.identify({ url: '/apps?limit=1&cursor=abc', headers: bearer(key) })).toBeDefined();
    await issuer.close();
  });

  it('stands alone: two sign-ins in a request are refused', async () => {
    const ways = await SignIn.load({ apiKeys: [CI] });
    await expect(ways.identify({ headers: { ...bearer(key), 'x-api-key': key } })).rejects.toThrow(/one sign-in/);
  });
});

describe('Several ways to sign in', () => {
  it('are told apart by what is sent, and a wrong one is not tried as another', async () => {
    const issuer = await Issuer.start();
    const from = jest.fn(({ user }: { user?: unknown }) => user);
    const ways = await SignIn.load({ from, jwt: issuer.options, apiKeys: [CI] });
    const user = { id: 'guarded' };
    expect(await ways.identify({ user, headers: bearer(await issuer.token('ann')) })).toMatchObject({
      user: { id: 'ann' },
    });
    expect(await ways.identify({ user, headers: { 'x-api-key': key } })).toMatchObject({ user: { id: 'ci' } });
    await expect(ways.identify({ user, headers: bearer('wrong') })).rejects.toThrow(NotSignedInError);
    await expect(ways.identify({ user, headers: bearer(makeApiKey().key) })).rejects.toThrow(NotSignedInError);
    expect(from).not.toHaveBeenCalled();
    expect(await ways.identify({ user, headers: {} })).toEqual({ user });
    expect(await ways.identify({ headers: { authorization: 'Basic YTpi' } })).toBeUndefined();
    await issuer.close();
  });

  it('leave tokens of the guard of the app to it', async () => {
    const ways = await SignIn.load({ from: ({ user }) => user, apiKeys: [CI] });
    expect(await ways.identify({ user: { id: 'ann' }, headers: bearer('of the guard') })).toEqual({
      user: { id: 'ann' },
    });
  });
});

describe('The options of API keys', () => {
  it.each<[object[], RegExp]>([
    [[], /auth\.apiKeys .*not shown/],
    [[{ ...CI, hash: key }], /auth\.apiKeys\[0\]\.hash cannot be read \(its value is not shown\)/],
    [[{ ...CI, preset: 'admin' }], /auth\.apiKeys\[0\]\.preset is "admin"; it must be one of client, service/],
    [[{ ...CI, preset: 'client' }], /auth\.apiKeys\[0\]\.user is missing/],
    [[{ ...CI, preset: undefined }], /auth\.apiKeys\[0\]\.preset is missing/],
    [[{ ...CI, expires: 'soon' }], /auth\.apiKeys\[0\]\.expires is "soon"/],
    [[{ ...CI, scopes: [] }], /auth\.apiKeys\[0\]\.scopes is no option/],
    [[CI, { ...CI, name: 'other' }], /same hash twice/],
    [[CI, { ...CI, hash: makeApiKey().hash }], /same name twice/],
  ])('are refused: %j', async (apiKeys, reason) => {
    const message = await SignIn.load({ apiKeys } as never).then(() => 'accepted', String);
    expect(message).toMatch(reason);
    expect(message).not.toContain(key);
  });
});

describe('agent-sessions api-key', () => {
  it('makes a key that signs in, and prints what the app gets, without a store', async () => {
    const made = await cli(
      ['api-key', 'agents', '--preset', 'client', '--user', 'ann', '--app', 'shop', '--expires', '2999-12-31'],
      { env: {} },
    );
    expect(made.code).toBe(0);
    const line = made.err.split('\n').find((text) => text.startsWith('{')) ?? '';
    expect(line).not.toContain(made.out.trim());
    const ways = await SignIn.load({ apiKeys: [JSON.parse(line)] });
    const identity = await ways.identify({ headers: bearer(made.out.trim()) });
    expect(identity).toMatchObject({ user: { id: 'ann', preset: 'client', apps: ['shop'] } });
    const json = JSON.parse((await cli(['api-key', 'x', '--json'], { env: {} })).out);
    expect(json).toMatchObject({ key: expect.stringMatching(/^agsk_/), entry: { name: 'x', preset: 'service' } });
  });

  it.each([
    [['--preset', 'client'], /--user is missing/],
    [['--preset', 'admin'], /Allowed choices are client, service, readonly, support/],
    [['--expires', 'soon'], /--expires is "soon"/],
    [['--expires', '2020-01-31'], /--expires: is over: the key would never count/],
  ])('refuses %j', async (options, reason) => {
    const made = await cli(['api-key', 'x', ...options], { env: {} });
    expect([made.code, made.out]).toEqual([2, '']);
    expect(made.err).toMatch(reason);
  });
});
