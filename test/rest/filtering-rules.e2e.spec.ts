import { Controller, Get, Inject, Logger, Module, Param, UseGuards } from '@nestjs/common';
import {
  type SessionFilter,
  type SessionPage,
  SessionService,
  SessionsModule,
  getSessionsToken,
} from '../../src/index.js';
import { type AccessAnswer, AccessFilter, AccessGuard, RequireAccess } from '../../src/sessions/rest/index.js';
import { KeptLogger } from '../module/support/kept-logger.js';
import { FOREIGN, MISSING, OWN, SHOP, SOUTH, TEAMS, TeamAccess, idsIn, plant } from '../support/team-access.js';
import { RestApp, frameworks } from './rest-app.js';

/** A rule with an answer that no type allows. */
function answering(answer: unknown): TeamAccess {
  return new (class extends TeamAccess {
    override allows = (): AccessAnswer => answer as AccessAnswer;
  })();
}

describe('a rule whose answer is none', () => {
  it.each([
    ['north'],
    [['north']],
    [{}],
    [{ lables: { team: 'north' } }],
    [{ labels: { team: undefined } }],
    [{ labels: { team: 'north' }, userId: 'ann' }],
    [{ status: null }],
    [{ tags: [] }],
    [undefined],
    [1],
  ])('%j is an error of its author: nothing is shown, and it is logged', async (answer) => {
    const app = await RestApp.start('Express', { access: answering(answer) });
    await plant(app.sessions);
    const logger = new KeptLogger();
    Logger.overrideLogger(logger);
    try {
      for (const path of ['/apps/shop/sessions', OWN, MISSING, '/apps', '/apps/shop/state']) {
        const { status, body } = await app.request('GET', path, undefined, TEAMS.north);
        expect([status, body.code]).toEqual([500, 'INTERNAL']);
        expect(JSON.stringify(body)).not.toMatch(/access rule|n1/);
      }
    } finally {
      Logger.overrideLogger(false);
      await app.close();
    }
    expect(logger.matching(/^error: allows\(\) of the access rule returned/)).toHaveLength(1);
  });
});

@Controller('apps/:appName')
@UseGuards(AccessGuard)
class OwnRoutes {
  constructor(@Inject(SessionService) private readonly sessions: SessionService) {}

  @Get('unfiltered')
  @RequireAccess('list', 'sessions')
  async unfiltered(@Param('appName') appName: string): Promise<SessionPage> {
    return this.sessions.listSessions({ appName });
  }

  @Get('filtered')
  @RequireAccess('list', 'sessions')
  async filtered(
    @Param('appName') appName: string,
    @AccessFilter() within: SessionFilter | undefined,
  ): Promise<unknown> {
    const { sessions } = await this.sessions.listSessions({ appName, within });
    return { sessions: sessions.map(({ id }) => ({ id })) };
  }

  @Get('undescribed/:userId/:sessionId')
  @RequireAccess('write', 'session')
  undescribed(): object {
    return { isWritten: true };
  }
}

@Module({ controllers: [OwnRoutes] })
class OwnModule {}

describe.each(frameworks)('own routes on %s', (framework) => {
  let app: RestApp;
  const get = (path: string, headers: Record<string, string> = TEAMS.north) =>
    app.request('GET', path, undefined, headers);

  beforeAll(async () => {
    app = await RestApp.start(framework, { access: TeamAccess, isAccessGlobal: true, imports: [OwnModule] });
    await plant(app.sessions);
  });
  afterAll(() => app.close());

  it('get the filter, and are closed without it', async () => {
    expect(idsIn((await get('/apps/shop/filtered')).body.sessions)).toEqual(['n1', 'n2']);
    expect(idsIn((await get('/apps/shop/filtered', TEAMS.admin)).body.sessions)).toHaveLength(4);
    expect((await get('/apps/shop/unfiltered')).status).toBe(403);
    expect((await get('/apps/shop/unfiltered', TEAMS.admin)).status).toBe(200);
  });

  it('that do not say what they write are refused in a filter', async () => {
    expect((await get('/apps/shop/undescribed/ann/n1')).status).toBe(403);
    expect((await get('/apps/shop/undescribed/ann/n1', TEAMS.admin)).status).toBe(200);
  });
});

it('A check of one session reads its metadata once, and nothing else', async () => {
  const app = await RestApp.start('Express', { access: TeamAccess });
  await plant(app.sessions);
  const read = jest.spyOn(app.storage, 'read');
  expect((await app.request('GET', FOREIGN, undefined, TEAMS.north)).status).toBe(404);
  expect(read.mock.calls).toEqual([[{ key: { ...SHOP, userId: 'ann', sessionId: 's1' }, withMetadata: true }]]);
  await app.close();
});

it('Approvals are those of the sessions that the filter matches', async () => {
  const app = await RestApp.start('Express', { access: TeamAccess, agents: true });
  await plant(app.sessions);
  for (const path of [OWN, FOREIGN]) {
    const refund = { newMessage: { parts: [{ text: 'refund' }] }, invocationId: 'i1' };
    expect((await app.request('POST', `${path}/run`, refund, TEAMS.admin)).status).toBe(200);
  }
  const approvals = async (headers: Record<string, string>): Promise<unknown> => {
    const { body } = await app.request('GET', '/apps/shop/users/ann/approvals', undefined, headers);
    return (body.approvals as { sessionId: string }[]).map(({ sessionId }) => sessionId).toSorted();
  };
  expect(await approvals(TEAMS.north)).toEqual(['n1']);
  expect(await approvals(TEAMS.south)).toEqual(['s1']);
  expect(await approvals(TEAMS.admin)).toEqual(['n1', 's1']);
  const answer = (path: string) => app.request('POST', `${path}/approvals/c1@i1`, { confirmed: true }, TEAMS.north);
  expect((await answer(FOREIGN)).status).toBe(404);
  expect((await answer(OWN)).status).toBe(200);
  await app.close();
});

it('With several stores, a session has to match in each that has it', async () => {
  const memory = { provider: 'memory', isGlobal: true } as const;
  const app = await RestApp.start('Express', {
    access: TeamAccess,
    imports: [SessionsModule.forRoot({ ...memory, name: 'archive' })],
  });
  await plant(app.sessions);
  const archive = app.get<SessionService>(getSessionsToken('archive') as never);
  expect((await app.request('GET', OWN, undefined, TEAMS.north)).status).toBe(200);
  await archive.createSession({ ...SHOP, userId: 'ann', sessionId: 'n1', metadata: SOUTH });
  expect((await app.request('GET', OWN, undefined, TEAMS.north)).status).toBe(404);
  await app.close();
});
