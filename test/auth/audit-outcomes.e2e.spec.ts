import { EventEmitter, once } from 'node:events';
import { get } from 'node:http';
import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  ForbiddenException,
  Get,
  Injectable,
  Logger,
  Module,
  NotFoundException,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import { SessionNotFoundError } from '../../src/index.js';
import { GraphqlAccessGuard } from '../../src/sessions/graphql/index.js';
import {
  AccessGuard,
  type AccessRequest,
  type AuditOptions,
  type AuditRecord,
  RequireAccess,
  SessionAccess,
  SessionAudit,
} from '../../src/sessions/rest/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp, frameworks } from '../rest/rest-app.js';
import { until } from '../support/until.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = '/apps/shop/users/ann/sessions/s';
const OWN = '/apps/shop/users/ann/own';
const ANN = { 'x-user': 'ann' };
const CANARY = 'canary-5d10';

class OnlyAnn extends SessionAccess {
  override userOf = (request: unknown): unknown => ({
    id: (request as { readonly headers: Readonly<Record<string, string>> }).headers['x-user'],
  });

  allows({ user }: AccessRequest): boolean {
    return user.id === 'ann';
  }

  override allowsWrite(): boolean {
    return true;
  }
}

let records: AuditRecord[];
const audit: AuditOptions = { sink: (some) => void records.push(...some) };
beforeEach(() => {
  records = [];
});

const outcomes = (): unknown[] => records.map(({ operation, outcome, code }) => [operation, outcome, code]);

@Injectable()
class NeverGuard implements CanActivate {
  canActivate(): boolean {
    throw new ForbiddenException(CANARY);
  }
}

/** Of an app, which tells the audit nothing. */
@Catch()
class OwnFilter implements ExceptionFilter {
  catch(_error: unknown, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<{ status(code: number): { send(body: string): void } }>().status(409).send('');
  }
}

/** Held open by a test. */
let work: Promise<string>;
let isBegun = false;

@Controller('apps/:appName/users/:userId/own')
@UseGuards(AccessGuard)
class OwnController {
  @Get('fine')
  @RequireAccess('list', 'sessions')
  fine(): string[] {
    return [CANARY];
  }

  @Get('missing')
  @RequireAccess('list', 'sessions')
  missing(): never {
    throw new NotFoundException(CANARY);
  }

  @Get('broken')
  @RequireAccess('list', 'sessions')
  broken(): never {
    throw new Error(CANARY);
  }

  @Get('guarded')
  @UseGuards(NeverGuard)
  @RequireAccess('list', 'sessions')
  guarded(): string {
    return CANARY;
  }

  @Get('answered')
  @UseGuards(NeverGuard)
  @UseFilters(OwnFilter)
  @RequireAccess('list', 'sessions')
  answered(): string {
    return CANARY;
  }

  @Get('slow')
  @RequireAccess('list', 'sessions')
  async slow(): Promise<string> {
    isBegun = true;
    return work;
  }
}

@Module({ controllers: [OwnController] })
class OwnModule {}

describe.each(frameworks)('what came of a request over REST on %s', (framework) => {
  let app: RestApp;
  beforeAll(async () => {
    app = await RestApp.start(framework, { access: OnlyAnn, audit, isAccessGlobal: true, imports: [OwnModule] });
    await app.sessions.createSession(KEY);
  });
  afterAll(() => app.close());

  it('is the code of the problem, also of one before the operation', async () => {
    const event = { author: 'user', content: { parts: [{ text: CANARY }] } };
    await app.request('POST', `${SESSION}/events`, event, { ...ANN, 'if-match': '"7"' });
    await app.request('POST', `${SESSION}/events`, { author: 7 }, ANN);
    await app.request('DELETE', SESSION, undefined, { ...ANN, 'if-match': '"7"' });
    await app.request('GET', '/apps/shop/users/ann/sessions/none', undefined, ANN);
    await app.request('GET', SESSION, undefined, { 'x-user': 'bob' });
    expect(outcomes()).toEqual([
      ['appendEvent', 'failed', 'STALE_SESSION'],
      ['appendEvent', 'failed', 'INVALID_INPUT'],
      ['deleteSession', 'failed', 'INVALID_INPUT'],
      ['getSession', 'failed', 'SESSION_NOT_FOUND'],
      // By the rule, which the client cannot tell from the one before.
      ['getSession', 'refused', 'SESSION_NOT_FOUND'],
    ]);
    expect(JSON.stringify(records)).not.toContain(CANARY);
  });

  it('is a record more for a stream that never begins', async () => {
    expect((await app.request('GET', `${SESSION}x/events/stream`, undefined, ANN)).status).toBe(404);
    expect(outcomes()).toEqual([
      ['streamEvents', 'allowed', undefined],
      ['streamEvents', 'failed', 'SESSION_NOT_FOUND'],
    ]);
    expect(records[0]?.callId).toMatch(/^[\w-]{12}$/);
    expect(records[1]?.callId).toBe(records[0]?.callId);
  });

  it('is known of handlers of the app', async () => {
    for (const path of ['fine', 'missing', 'broken', 'guarded', 'answered'])
      await app.request('GET', `${OWN}/${path}`, undefined, ANN);
    await until(() => records.length === 5);
    expect(outcomes()).toEqual([
      ['fine', 'done', undefined],
      ['missing', 'failed', 'NOT_FOUND'],
      ['broken', 'failed', 'INTERNAL'],
      ['guarded', 'failed', 'FORBIDDEN'],
      // By its status.
      ['answered', 'failed', 'INVALID_INPUT'],
    ]);
    expect(JSON.stringify(records)).not.toContain(CANARY);
  });

  it('is what the handler did, also if the client has left before', async () => {
    const gate = new EventEmitter();
    work = once(gate, 'open').then(() => '');
    isBegun = false;
    const asked = get(`${app.url}${OWN}/slow`, { headers: ANN, agent: false }).on('error', () => undefined);
    await until(() => isBegun);
    asked.destroy();
    await until(async () => (await app.connections()) === 0);
    expect(records).toEqual([]);
    gate.emit('open');
    await until(() => records.length > 0);
    expect(outcomes()).toEqual([['slow', 'done', undefined]]);
  });
});

@Resolver()
@UseGuards(GraphqlAccessGuard)
class OwnResolver {
  @Query(() => String)
  @RequireAccess('list', 'sessions')
  ownMissing(): never {
    throw new SessionNotFoundError(CANARY);
  }

  @Query(() => String)
  @RequireAccess('list', 'sessions')
  ownFine(): string {
    return CANARY;
  }
}

@Module({ providers: [OwnResolver] })
class OwnFieldsModule {}

it('is known of each field of a document, also of fields of the app', async () => {
  const app = await GraphqlApp.start({ access: OnlyAnn, audit, isAccessGlobal: true, imports: [OwnFieldsModule] });
  await app.sessions.createSession(KEY);
  const key = 'appName: "shop", userId: "ann", sessionId: "s"';
  await app.ask(`{ ownMissing ownFine turn(${key}) { holder } }`, {}, ANN);
  await app.ask(
    `mutation ($event: JSON!) { appendEvent(${key}, expectedVersion: 7, event: $event) { duplicate } }`,
    { event: { author: 'user' } },
    ANN,
  );
  await app.close();
  expect(new Set(outcomes())).toEqual(
    new Set([
      ['ownMissing', 'failed', 'SESSION_NOT_FOUND'],
      ['ownFine', 'done', undefined],
      ['getTurn', 'done', undefined],
      ['appendEvent', 'failed', 'STALE_SESSION'],
    ]),
  );
  expect(JSON.stringify(records)).not.toContain(CANARY);
});

describe('with `refuse`', () => {
  it('each has a record of its beginning, and one of its end', async () => {
    const app = await RestApp.start('Express', { access: OnlyAnn, audit: { ...audit, onFailure: 'refuse' } });
    await app.request('GET', SESSION, undefined, ANN);
    await app.request('POST', SESSION, {}, ANN);
    await app.close();
    expect(outcomes()).toEqual([
      ['getSession', 'allowed', undefined],
      ['getSession', 'failed', 'SESSION_NOT_FOUND'],
      ['createSessionWithId', 'allowed', undefined],
      ['createSessionWithId', 'done', undefined],
    ]);
    const [asked, missing, begun, done] = records.map(({ callId }) => callId);
    expect(asked).toBe(missing);
    expect(begun).toBe(done);
    expect(asked).not.toBe(begun);
  });
});

async function start(options?: AuditOptions): Promise<RestApp> {
  return RestApp.start('Express', { access: OnlyAnn, ...(options && { audit: options }), isAccessGlobal: true });
}

describe('a call by code of the app', () => {
  it('is noted in the name that the app gives it, with what came of it', async () => {
    const app = await start(audit);
    const { appName, userId } = KEY;
    const own = app.get(SessionAudit);
    const erase = { by: 'forget-job', operation: 'eraseUser', appName, userId };
    await app.sessions.createSession(KEY);
    const erased = await own.call(erase, () => app.sessions.eraseUser({ appName, userId, reason: CANARY }));
    expect(erased.sessions).toBe(1);
    const read = async (): Promise<unknown> => app.sessions.appendEvent({ session: KEY as never, event: {} as never });
    await expect(own.call({ ...KEY, by: 'job', operation: 'append' }, read)).rejects.toThrow();
    await app.close();
    expect(records).toEqual([
      {
        at: expect.any(Number),
        outcome: 'done',
        operation: 'eraseUser',
        appName,
        userId,
        by: { id: 'forget-job', from: 'code' },
      },
      expect.objectContaining({ outcome: 'failed', code: 'INVALID_INPUT', by: { id: 'job', from: 'code' } }),
    ]);
    expect(JSON.stringify(records)).not.toContain(CANARY);
  });

  it('does not begin if it cannot be noted, where that is asked for', async () => {
    const said = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const app = await start({ sink: () => Promise.reject(new Error('away')), onFailure: 'refuse' });
    const call = jest.fn();
    await expect(app.get(SessionAudit).call({ by: 'job', operation: 'purge' }, call)).rejects.toThrow(/be noted/);
    expect(call).not.toHaveBeenCalled();
    await app.close();
    said.mockRestore();
  });

  it('is refused without a name, or with a field in another spelling, and is only made where nothing is noted', async () => {
    const app = await start();
    const own = app.get(SessionAudit);
    const call = async (given: object): Promise<unknown> => own.call(given as never, async () => 'made');
    await expect(call({ by: '', operation: 'purge' })).rejects.toThrow(/by/);
    await expect(call({ by: 'job', operation: 'purge', userID: 'ann' })).rejects.toThrow(/did you mean userId/);
    expect(await call({ by: 'job', operation: 'purge' })).toBe('made');
    await app.close();
  });
});
