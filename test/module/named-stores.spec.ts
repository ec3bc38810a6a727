import { Inject, Injectable, Module } from '@nestjs/common';
import { HealthIndicatorService, TerminusModule } from '@nestjs/terminus';
import { AgentSessions, AgentsModule } from '../../src/agents/index.js';
import { COMPONENT_STORE, ComponentsModule } from '../../src/components/index.js';
import { SessionsHealth } from '../../src/health/index.js';
import {
  ConfigurationError,
  ConsumeSessionEvents,
  type ConsumedEvent,
  InMemorySessionStorage,
  InjectSessions,
  InjectSessionStorage,
  SESSION_STORAGE,
  SessionService,
  SessionsCleanup,
  SessionsModule,
  type SessionsModuleOptions,
  getSessionStorageToken,
  getSessionsCleanupToken,
  getSessionsToken,
} from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { SummarizerModule, SummarizerSessionManager } from '../../src/summarizer/index.js';
import { until } from '../support/until.js';
import { KEY, roundTrip, shownBy, startApp } from './support/apps.js';
import { KeptLogger } from './support/kept-logger.js';

const MEMORY: SessionsModuleOptions = { provider: 'memory' };

function main() {
  return SessionsModule.forRoot({ ...MEMORY, isGlobal: true });
}

function archive(options: Partial<SessionsModuleOptions> = {}) {
  return SessionsModule.forRoot({ ...MEMORY, ...options, name: 'archive', isGlobal: true });
}

@Injectable()
class Mover {
  constructor(
    @Inject(SessionService) readonly sessions: SessionService,
    @InjectSessions('archive') readonly second: SessionService,
    @InjectSessionStorage('archive') readonly storage: SessionStorage,
  ) {}
}

@Module({ providers: [Mover] })
class Moving {}

describe('two stores in one app', () => {
  it.each([
    ['the named one last', () => [main(), archive(), Moving]],
    ['the named one first', () => [archive(), main(), Moving]],
    [
      'the named one by a factory',
      () => [
        main(),
        SessionsModule.forRootAsync({ name: 'archive', isGlobal: true, useFactory: () => MEMORY }),
        Moving,
      ],
    ],
  ])('are told apart by the name: %s', async (_title, imports) => {
    const app = await startApp(imports());
    const mover = app.get(Mover, { strict: false });
    expect(mover.sessions).toBe(app.get(SessionService, { strict: false }));
    expect(mover.second).toBe(app.get(getSessionsToken('archive'), { strict: false }));
    expect(mover.storage).toBe(app.get(getSessionStorageToken('archive'), { strict: false }));
    expect(mover.storage).not.toBe(app.get(SESSION_STORAGE, { strict: false }));
    await roundTrip(mover.second);
    expect(await shownBy(mover.sessions)).toBeUndefined();
    await app.close();
  });

  it('are opened, named in the log, and closed', async () => {
    const logger = new KeptLogger();
    const closed: string[] = [];
    class Kept extends InMemorySessionStorage {
      override async close(): Promise<void> {
        closed.push('archive');
        await super.close();
      }
    }
    const app = await startApp([main(), SessionsModule.forRoot({ name: 'archive', storage: Kept })], { logger });
    expect(logger.matching(/kept in/)).toEqual([
      expect.stringContaining('Sessions are kept in'),
      expect.stringContaining('Sessions of archive are kept in'),
    ]);
    await app.close();
    expect(closed).toEqual(['archive']);
  });

  it('have a cleanup each', async () => {
    const clock = { now: () => time };
    let time = 1_000_000;
    const ttl = { enabled: true, sessionSeconds: 60 };
    const app = await startApp([SessionsModule.forRoot({ ...MEMORY, clock, ttl }), archive({ clock, ttl })]);
    const find = <Found>(token: unknown): Found => app.get<Found>(token as never, { strict: false });
    for (const token of [getSessionsToken(), getSessionsToken('archive')]) {
      await find<SessionService>(token).createSession(KEY);
    }
    time += 61_000;
    const cleanups = [getSessionsCleanupToken(), getSessionsCleanupToken('archive')];
    expect(cleanups[0]).toBe(SessionsCleanup);
    for (const token of cleanups) expect(await find<SessionsCleanup>(token).run()).toMatchObject({ sessions: 1 });
    await app.close();
  });

  it('have consumers each, and one that names no store is refused', async () => {
    @Injectable()
    class Mail {
      readonly log: string[] = [];

      @ConsumeSessionEvents({ name: 'mail' })
      send({ event }: ConsumedEvent): void {
        this.log.push(`main ${event.id}`);
      }

      @ConsumeSessionEvents({ name: 'mail', sessionsName: 'archive' })
      keep({ event }: ConsumedEvent): void {
        this.log.push(`archive ${event.id}`);
      }
    }
    const app = await startApp([main(), archive()], { providers: [Mail] });
    const { log } = app.get(Mail);
    for (const [name, id] of [
      [undefined, 'a'],
      ['archive', 'b'],
    ] as const) {
      const sessions = app.get<SessionService>(getSessionsToken(name), { strict: false });
      await sessions.appendEvent({ session: await sessions.createSession(KEY), event: { id, author: 'user' } });
    }
    await until(() => log.length === 2);
    await app.close();
    expect(log.toSorted()).toEqual(['archive b', 'main a']);
    await expect(startApp([main()], { providers: [Mail] })).rejects.toThrow(
      /consumer mail finds no store.* one of \(none\),/,
    );
    await expect(startApp([archive()], { providers: [Mail] })).rejects.toThrow(/must be one of archive/);
  });

  it('have a health indicator each', async () => {
    const down = new InMemorySessionStorage();
    jest.spyOn(down, 'readState').mockRejectedValue(new Error('gone'));
    const ofArchive = {
      provide: 'ArchiveHealth',
      useFactory: (...parts: ConstructorParameters<typeof SessionsHealth>) => new SessionsHealth(...parts),
      inject: [HealthIndicatorService, getSessionStorageToken('archive')],
    };
    const app = await startApp(
      [TerminusModule.forRoot({ logger: false }), main(), SessionsModule.forRoot({ name: 'archive', storage: down })],
      { providers: [SessionsHealth, ofArchive] },
    );
    expect(await app.get(SessionsHealth).isHealthy('sessions')).toMatchObject({ sessions: { status: 'up' } });
    const health = app.get<SessionsHealth>('ArchiveHealth');
    expect(await health.isHealthy('archive')).toMatchObject({ archive: { status: 'down' } });
    await app.close();
  });

  it('are served by the modules that name them', async () => {
    const named = { sessionsName: 'archive', isGlobal: true };
    const app = await startApp([
      archive(),
      AgentsModule.forRoot(named),
      SummarizerModule.forRoot({ ...named, events: 4 }),
      ComponentsModule.forRoot(named),
    ]);
    const sessions = app.get<SessionService>(getSessionsToken('archive'), { strict: false });
    const agents = app.get(AgentSessions, { strict: false });
    await agents.run({ ...KEY, newMessage: 'Hello' }, async function* () {
      yield { content: { role: 'model', parts: [{ text: 'Good day' }] } };
    }).result;
    expect((await sessions.getSession(KEY))?.events).toHaveLength(2);
    expect(app.get(SummarizerSessionManager, { strict: false })).toBeDefined();
    const { components } = app.get<SessionStorage>(getSessionStorageToken('archive'), { strict: false });
    expect(app.get(COMPONENT_STORE, { strict: false })).toBe(components);
    await app.close();
  });
});

describe('refused are', () => {
  it.each([
    ['two stores without a name', () => [main(), main()], /two SessionsModules without a name.+@InjectSessions/s],
    ['two stores with one name', () => [archive(), archive()], /two SessionsModules with the name "archive"/],
    [
      'a store without a name in a module of the app',
      () => {
        @Module({ imports: [SessionsModule.forRoot(MEMORY)] })
        class Feature {}
        return [SessionsModule.forRootAsync({ useFactory: () => MEMORY }), Feature];
      },
      /two SessionsModules without a name/,
    ],
    [
      'a name from a factory',
      () => [SessionsModule.forRootAsync({ useFactory: () => ({ ...MEMORY, name: 'archive' }) })],
      /name.+beside useFactory/,
    ],
    ['a module that names no store', () => [main(), AgentsModule.forRoot({ sessionsName: 'archiv' })], /archiv/],
    ['two AgentsModules', () => [main(), AgentsModule.forRoot(), AgentsModule.forRoot()], /two AgentsModules/],
  ])('%s', async (_title, imports, message) => {
    await expect(startApp(imports())).rejects.toThrow(message);
  });

  it('an empty name', () => {
    expect(() => SessionsModule.forRoot({ ...MEMORY, name: ' ' })).toThrow(ConfigurationError);
  });
});

it('apps of one process do not disturb each other, nor a module that is imported in many places', async () => {
  const shared = SessionsModule.forRoot(MEMORY);
  @Module({ imports: [shared], providers: [] })
  class Feature {}
  const apps = [await startApp([shared, Feature]), await startApp([shared, Feature]), await startApp([main()])];
  await Promise.all(apps.map((app) => app.close()));
});
