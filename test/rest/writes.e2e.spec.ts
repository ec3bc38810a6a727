import { Logger } from '@nestjs/common';
import {
  type AccessRequest,
  type AccessUser,
  SessionAccess,
  accessByRole,
  clientAccess,
  serviceAccess,
} from '../../src/sessions/rest/index.js';
import { KeptLogger } from '../module/support/kept-logger.js';
import {
  PEOPLE,
  type Write,
  WRITES,
  WRITES_BY_PEOPLE,
  accessOfPeople,
  addSession,
  everythingIn,
  refusalOf,
  userOf,
} from '../support/writes.js';
import { type Answer, RestApp, frameworks } from './rest-app.js';

type Headers = Record<string, string>;

/** Malformed events may be refused for what they are, once the rule lets them through. */
const isDone = ({ status }: Answer): boolean => status < 400;

describe.each(frameworks)('who may write what over REST on %s', (framework) => {
  let app: RestApp;

  beforeAll(async () => {
    app = await RestApp.start(framework, { access: accessOfPeople(), summarizer: { keepRecentEvents: 0 } });
    await addSession(app.sessions);
  });
  afterAll(() => app.close());

  it.each(WRITES_BY_PEOPLE)('$what by $who', async ({ write, who }) => {
    const before = await everythingIn(app.sessions);
    const { method, path, body } = write.rest;
    const answer = await app.request(method, path, body, PEOPLE[who]);
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

describe('a rule of one’s own', () => {
  /** As the docs have it: it says whose sessions they are, and nothing of what is written. */
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
  const send = ({ rest: { method, path, body } }: Write, headers: Headers = PEOPLE.client): Promise<Answer> =>
    app.request(method, path, body, headers);

  it('lets nobody forge unless it says so', async () => {
    await start(OwnSessions);
    expect(isDone(await send(WRITE))).toBe(true);
    const refused = await send(FORGERY);
    expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining('authors: "agent"') } });
  });

  it('may allow more', async () => {
    class Trusting extends OwnSessions {
      override allowsWrite(): boolean {
        return true;
      }
    }
    await start(Trusting);
    expect(isDone(await send(FORGERY))).toBe(true);
  });

  it('may allow a little more than the ready-made one', async () => {
    await start(clientAccess({ userOf, writes: { authors: ['user', 'agent'], controls: ['fork'] }, apps: ['shop'] }));
    expect(isDone(await send(FORGERY))).toBe(true);
    expect((await app.request('POST', '/apps/shop/users/ann/sessions/s/fork', {}, PEOPLE.client)).status).toBe(201);
    expect((await app.request('POST', '/apps/bank/users/ann/sessions', {}, PEOPLE.client)).status).toBe(403);
  });

  it.each(['false', 'true', 1, {}, [], null, undefined])('allows nothing by saying %p', async (said) => {
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
    expect((await send(WRITE)).status).toBe(404);
    await app.close();
    await start(OddAboutWrites);
    expect((await send(WRITE)).status).toBe(403);
  });

  it('is told once that it answers something else than true or false, and never what', async () => {
    class Odd extends OwnSessions {
      override allows(): boolean {
        return 'secret' as unknown as boolean;
      }
    }
    await start(accessByRole({ roles: { service: new Odd() }, otherwise: clientAccess(), userOf }));
    const logger = new KeptLogger();
    Logger.overrideLogger(logger);
    try {
      for (let time = 1; time <= 3; time++) expect((await send(WRITE, PEOPLE.service)).status).toBe(404);
      expect((await send(WRITE)).status).toBe(201);
    } finally {
      Logger.overrideLogger(false);
    }
    expect(logger.lines).toEqual([
      'error: allows() of the access rule gave a string, which allows nothing; let it give true or false.',
    ]);
  });

  const nobodies: readonly unknown[] = [
    undefined,
    null,
    {},
    { id: undefined },
    { id: '' },
    { id: 7 },
    'ann',
    { sub: 'ann' },
  ];
  it.each(nobodies.map((user) => ({ user })))('is not asked for $user', async ({ user }) => {
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

  it('is asked for anybody only if it says so, with exactly true', async () => {
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

  it('answers 401 where it cannot say who asks, and 500 where it breaks', async () => {
    class Broken extends OwnSessions {
      override allows(): boolean {
        throw new Error('The directory is away');
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

  it('writes as nobody else by one role what another role may not touch', async () => {
    const agents = accessByRole({
      roles: { bank: clientAccess({ apps: ['bank'], writes: { authors: ['agent'] } }), client: clientAccess() },
    });
    const write = {
      authors: ['agent'],
      roles: [],
      content: [],
      controls: [],
      fields: [],
      stateKeys: [],
      stateScopes: [],
    };
    expect(await agents.allowsWrite({ ...asked(['bank', 'client'], 'ann'), write })).toBe(false);
  });
});
