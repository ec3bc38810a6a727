import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Logger, type ModuleMetadata } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  COMPONENT_STORE,
  ComponentSession,
  type ComponentStore,
  ComponentsCleanup,
  ComponentsModule,
  InMemoryComponentStore,
} from '../../src/components/index.js';
import { COMPONENTS_CLEANUP_NAME } from '../../src/components/components.cleanup.js';
import { InMemorySessionStorage, SessionService, SessionsModule } from '../../src/index.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import { temporaryFolder } from './support/stores.js';

const folder = temporaryFolder();
const apps: TestingModule[] = [];

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

async function start(imports: NonNullable<ModuleMetadata['imports']>): Promise<TestingModule> {
  const app = await Test.createTestingModule({ imports }).compile();
  apps.push(app);
  app.useLogger(false);
  return app.init();
}

describe('ComponentsModule', () => {
  it('keeps state in the store of the sessions, with their lifetime', async () => {
    const clock = new ManualClock();
    const sessions = SessionsModule.forRoot({ provider: 'memory', clock, ttl: { enabled: true, sessionSeconds: 60 } });
    const app = await start([ScheduleModule.forRoot(), sessions, ComponentsModule.forRoot({ imports: [sessions] })]);
    const components = app.get(ComponentSession);
    await components.save('s', 'k', 1);
    clock.advanceSeconds(59);
    expect(await components.get('s', 'k')).toBe(1);
    clock.advanceSeconds(1);
    expect(await components.get('s', 'k')).toBeUndefined();
    expect(app.get(SchedulerRegistry, { strict: false }).getIntervals()).toContain(COMPONENTS_CLEANUP_NAME);
    expect(await app.get(ComponentsCleanup).run()).toBe(1);
    await app.close();
    expect(await app.get(ComponentsCleanup).run()).toBeUndefined();
    await expect(components.get('s', 'k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it.each<[title: string, options: object, kept: boolean]>([
    ['in the store of the sessions', {}, false],
    ['in JSON files', { root: join(folder, 'deleted') }, false],
    ['unless that is not wanted', { deleteWithSessions: false }, true],
  ])('removes state with the session that has it, %s', async (_title, options, kept) => {
    const sessions = SessionsModule.forRoot({ provider: 'memory', isGlobal: true });
    const app = await start([sessions, ComponentsModule.forRoot(options)]);
    const [components, service] = [app.get(ComponentSession), app.get(SessionService)];
    const [key, other] = ['s', 't'].map((sessionId) => ({ appName: 'shop', userId: 'ann', sessionId }));
    if (!key || !other) throw new Error('no keys');
    for (const each of [key, other]) await components.saveList(each, 'notes', [1]);
    await components.save('s', 'notes', 1);
    await service.deleteSession(key);
    expect([await components.exists(key), await components.exists(other)]).toEqual([kept, true]);
    await service.createSession(key);
    await components.save(key, 'notes', 2);
    expect(await components.get(key, 'notes')).toBe(2);
    const erased = jest.spyOn(app.get<ComponentStore>(COMPONENT_STORE), 'purgeExpired');
    await service.eraseUser({ appName: 'shop', userId: 'ann' });
    expect(erased).toHaveBeenCalledTimes(1);
    expect(await components.listSessionKeys()).toEqual(['s']);
  });

  it('has a lifetime of its own if it is given one, and no job if nothing expires', async () => {
    const sessions = SessionsModule.forRoot({ provider: 'memory', ttl: { enabled: true }, isGlobal: true });
    const app = await start([sessions, ComponentsModule.forRootAsync({ useFactory: () => ({ ttlMs: 0 }) })]);
    expect(app.get(ComponentsCleanup).intervalMs).toBeUndefined();
    const another = await start([sessions, ComponentsModule.forRoot({ ttlMs: 1_000, cleanupIntervalSeconds: 5 })]);
    expect(another.get(ComponentsCleanup).intervalMs).toBe(5_000);
  });

  it('cleans up by one instance at a time', async () => {
    const storage = new InMemorySessionStorage();
    const app = await start([
      SessionsModule.forRoot({ storage, isGlobal: true }),
      ComponentsModule.forRoot({ ttlMs: 1_000 }),
    ]);
    const lease = await storage.leases.acquire({ name: COMPONENTS_CLEANUP_NAME, holder: 'other', ttlMs: 60_000 });
    expect(await app.get(ComponentsCleanup).run()).toBeUndefined();
    if (lease) await storage.leases.release(lease);
    expect(await app.get(ComponentsCleanup).run()).toBe(0);
  });

  it('removes expired folders, what a dead process left of them, and nothing behind links', async () => {
    const [root, clock] = [join(folder, 'expiring'), new ManualClock()];
    const options = { root, ttlMs: 1_000, clock };
    const [one, two] = await Promise.all([1, 2].map(() => start([ComponentsModule.forRoot(options)])));
    if (!one || !two) throw new Error('There is no app');
    const components = one.get(ComponentSession);
    await Promise.all(Array.from({ length: 20 }, (_, index) => components.save(`s-${index}`, 'k', 1)));
    clock.advance(1_000);
    await components.save('live', 'k', 1);
    mkdirSync(join(root, '.discarded-x'));
    writeFileSync(join(root, '.discarded-x', 'k.json'), '1');
    mkdirSync(join(root, 'damaged', '.notes', '.session'), { recursive: true });
    const [first, second] = await Promise.all([one, two].map((app) => app.get(ComponentsCleanup).run()));
    // The damaged folder is reported at the end.
    expect([first, second].filter((count) => count !== undefined && count > 0)).toEqual([]);
    expect(readdirSync(root).toSorted()).toEqual(['.locks', 'damaged', 'live']);
    expect(readdirSync(join(root, '.locks'))).toEqual([]);
  });

  it('does not start where its folder cannot be', async () => {
    const file = join(folder, 'a-file');
    writeFileSync(file, 'x');
    for (const root of [file, join(file, 'below')]) {
      await expect(start([ComponentsModule.forRoot({ root, deleteWithSessions: false })])).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining('Something else stands where its folder should be') as string,
      });
    }
  });

  it('leaves a store that it was given open', async () => {
    const store = new InMemoryComponentStore();
    const app = await start([ComponentsModule.forRoot({ store })]);
    await app.get(ComponentSession).save('s', 'k', 1);
    await app.close();
    expect(await new ComponentSession({ store }).get('s', 'k')).toBe(1);
  });

  it('warns that sessions it does not see are deleted without their state here', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const options = { root: join(folder, 'alone') };
    const unseen = SessionsModule.forRoot({ provider: 'memory' });
    await start([unseen, ComponentsModule.forRoot(options)]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('deleteSession and eraseUser of SessionService leave'));
    warn.mockClear();
    await start([unseen, ComponentsModule.forRoot({ ...options, deleteWithSessions: false })]);
    await start([unseen, ComponentsModule.forRoot({ ...options, imports: [unseen] })]);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it.each([
    ['sessions that it does not see', { root: folder, deleteWithSessions: true }, 'deleteWithSessions has no effect'],
    ['no store', {}, 'finds no store of SessionsModule'],
    ['two stores', { root: folder, store: new InMemoryComponentStore() }, 'root and store'],
    ['an unknown option', { root: folder, ttl: 5 }, 'ComponentsModule: ttl is no option'],
    ['no yes or no', { root: folder, deleteWithSessions: 'no' as never }, 'ComponentsModule: deleteWithSessions is'],
    ['a wrong time', { root: folder, ttlMs: -1 }, 'ComponentsModule: ttlMs is -1'],
  ])('says what is wrong with %s', async (_title, options, problem) => {
    await expect(start([ComponentsModule.forRoot(options)])).rejects.toThrow(problem);
  });

  it('says that a store of sessions keeps no components', async () => {
    const storage = new InMemorySessionStorage();
    Object.assign(storage, { components: undefined });
    const sessions = SessionsModule.forRoot({ storage, isGlobal: true });
    await expect(start([sessions, ComponentsModule.forRoot()])).rejects.toThrow('keeps no components');
  });
});
