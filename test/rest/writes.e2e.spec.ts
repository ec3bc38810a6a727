import { Logger } from '@nestjs/common';
import {
  type AccessRequest,
  type AccessUser,
  SessionAccess,
  accessByRole,
  clientAccess,
  describeWrite,
  serviceAccess,
} from '../../src/sessions/rest/index.js';
import { KeptLogger } from '../module/support/kept-logger.js';
import {
  CALLERS,
  type Write,
  WRITES,
  WRITES_BY_CALLER,
  accessByCallerRole,
  addSession,
  everythingIn,
  refusalOf,
  userOf,
} from '../support/writes.js';
import { type Answer, RestApp, frameworks } from './rest-app.js';

type Headers = Record<string, string>;

/** The rule may allow a malformed event that is refused later. */
const isDone = ({ status }: Answer): boolean => status < 400;

describe.each(frameworks)('write access over REST on %s', (framework) => {
  let app: RestApp;

  beforeAll(async () => {
    app = await RestApp.start(framework, {
      access: accessByCallerRole(),
      summarizer: { autoSummarize: false, keepRecentEvents: 0 },
    });
    await addSession(app.sessions);
  });
  afterAll(() => app.close());

  it.each(WRITES_BY_CALLER)('$what by $who', async ({ write, who }) => {
    const before = await everythingIn(app.sessions);
    const { method, path, body } = write.rest;
    const answer = await app.request(method, path, body, CALLERS[who]);
    const refusal = refusalOf(write, who);
    if (refusal === undefined) {
      expect([401, 403, 404]).not.toContain(answer.status);
      return;
    }
    expect(answer.status).toBe(refusal);
    expect(answer.text).not.toContain('Hello');
    expect(await everythingIn(app.sessions)).toEqual(before);
  });
});

describe('a custom access rule', () => {
  /** The rule of the docs: it decides by owner, not by the content of writes. */
  class OwnSessions extends SessionAccess {
    override userOf = userOf;
    allows({ user, userId }: AccessRequest): boolean {
      return userId === user.id;
    }
  }

  const WRITE = WRITES[0] as Write;
  const FORGERY = WRITES.find(({ what }) => what.endsWith('by an agent')) as Write;
  let app: RestApp;
  afterEach(() => app.close());

  const start = async (access: SessionAccess | (new () => SessionAccess)): Promise<void> => {
    app = await RestApp.start('Express', { access });
    await app.sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
  };
  const send = ({ rest: { method, path, body } }: Write, headers: Headers = CALLERS.client): Promise<Answer> =>
    app.request(method, path, body, headers);

  it('does not allow writes as another author by default', async () => {
    await start(OwnSessions);
    expect(isDone(await send(WRITE))).toBe(true);
    const refused = await send(FORGERY);
    expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining('authors: "agent"') } });
  });

  it('can allow all writes', async () => {
    class Trusting extends OwnSessions {
      override allowsWrite(): boolean {
        return true;
      }
    }
    await start(Trusting);
    expect(isDone(await send(FORGERY))).toBe(true);
  });

  it('can extend the built-in rule', async () => {
    await start(clientAccess({ userOf, writes: { authors: ['user', 'agent'], controls: ['fork'] }, apps: ['shop'] }));
    expect(isDone(await send(FORGERY))).toBe(true);
    expect((await app.request('POST', '/apps/shop/users/ann/sessions/s/fork', {}, CALLERS.client)).status).toBe(201);
    expect((await app.request('POST', '/apps/bank/users/ann/sessions', {}, CALLERS.client)).status).toBe(403);
  });

  it.each(['false', 'true', 1, {}, [], null, undefined])('does not allow by returning %p', async (said) => {
    class Odd extends OwnSessions {
      override allows(): boolean {
        return said as boolean;
      }
    }
    class OddAboutWrites extends OwnSessions {
      override allowsWrite(): Promise<boolean> {
        return Promise.resolve(said as boolean);
      }
    }
    await start(Odd);
    expect((await send(WRITE)).status).toBe(500);
    await app.close();
    await start(OddAboutWrites);
    expect((await send(WRITE)).status).toBe(403);
  });

  it('is logged if it returns no answer, without the value', async () => {
    class Odd extends OwnSessions {
      override allows(): boolean {
        return 'secret' as unknown as boolean;
      }
    }
    await start(accessByRole({ roles: { service: new Odd() }, otherwise: clientAccess(), userOf }));
    const logger = new KeptLogger();
    Logger.overrideLogger(logger);
    try {
      for (let time = 1; time <= 3; time++) expect((await send(WRITE, CALLERS.service)).status).toBe(500);
      expect((await send(WRITE)).status).toBe(201);
    } finally {
      Logger.overrideLogger(false);
    }
    const logged = logger.matching(/access rule/);
    expect(logged).toEqual([
      "error: allows() of the access rule returned a string, which allows nothing; return true, false or a filter such as { labels: { team: 'north' } }.",
    ]);
    expect(logger.lines.join()).not.toContain('secret');
  });

  const withoutId: readonly unknown[] = [
    undefined,
    null,
    {},
    { id: undefined },
    { id: '' },
    { id: 7 },
    'ann',
    { sub: 'ann' },
  ];
  it.each(withoutId.map((user) => ({ user })))('is not called for the user $user', async ({ user }) => {
    const allows = jest.fn(() => true);
    class Asked extends SessionAccess {
      override userOf(): unknown {
        return user;
      }
      allows = allows;
    }
    await start(Asked);
    for (const path of ['/apps/shop/state', '/apps/shop/users/ann/sessions', '/apps/shop/users/ann/sessions/s']) {
      expect((await app.request('GET', path)).status).toBe(401);
    }
    expect(allows).not.toHaveBeenCalled();
  });

  it('is called for anonymous requests only if acceptsAnonymous is exactly true', async () => {
    class Public extends SessionAccess<AccessUser | undefined> {
      override readonly acceptsAnonymous: boolean = true;
      allows({ user, action }: AccessRequest<AccessUser | undefined>): boolean {
        return user === undefined && action === 'read';
      }
    }
    class Odd extends Public {
      override readonly acceptsAnonymous = 'false' as unknown as boolean;
    }
    await start(Public);
    expect((await app.request('GET', '/apps/shop/users/ann/sessions/s')).status).toBe(200);
    expect((await send(WRITE, {})).status).toBe(404);
    await app.close();
    await start(Odd);
    expect((await app.request('GET', '/apps/shop/users/ann/sessions/s')).status).toBe(401);
  });

  it('leads to 401 if it finds no user, and to 500 if it throws', async () => {
    class Broken extends OwnSessions {
      override allows(): boolean {
        throw new Error('The directory does not respond');
      }
    }
    await start(Broken);
    expect((await send(WRITE, {})).status).toBe(401);
    expect(await send(WRITE)).toMatchObject({ status: 500, body: { code: 'INTERNAL' } });
  });
});

const asked = (roles: unknown, userId: string): AccessRequest => ({
  user: { id: 'ann', roles },
  action: 'write',
  target: 'session',
  appName: 'shop',
  userId,
  request: {},
});

describe('users with several roles', () => {
  const rule = accessByRole({ roles: { service: serviceAccess(), client: clientAccess() } });

  it.each([
    { roles: ['client', 'service'], userId: 'bob', allowed: true, anything: true },
    { roles: ['client'], userId: 'ann', allowed: true, anything: false },
    { roles: ['client'], userId: 'bob', allowed: false, anything: false },
    { roles: ['unknown'], userId: 'ann', allowed: false, anything: false },
    { roles: ['constructor', '__proto__'], userId: 'ann', allowed: false, anything: false },
    { roles: [], userId: 'ann', allowed: false, anything: false },
    { roles: undefined, userId: 'ann', allowed: false, anything: false },
    { roles: 'service', userId: 'ann', allowed: false, anything: false },
  ])('$roles at $userId', async ({ roles, userId, allowed, anything }) => {
    expect(await rule.allows(asked(roles, userId))).toBe(allowed);
    expect(await rule.allowsWrite(asked(roles, userId))).toBe(anything);
  });

  it('does not combine the write permission of one role with the access of another', async () => {
    const agents = accessByRole({
      roles: { bank: clientAccess({ apps: ['bank'], writes: { authors: ['agent'] } }), client: clientAccess() },
    });
    const write = describeWrite({ event: { author: 'agent' } });
    expect(await agents.allowsWrite({ ...asked(['bank', 'client'], 'ann'), write })).toBe(false);
  });
});
