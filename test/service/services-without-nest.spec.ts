import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentSessions, type RunHandler } from '../../src/agents/index.js';
import { ComponentManager, ComponentSession, InMemoryComponentStore } from '../../src/components/index.js';
import { diagnose } from '../../src/doctor/index.js';
import {
  ConfigurationError,
  InMemorySessionService,
  InMemorySessionStorage,
  InvalidInputError,
  SessionService,
  SessionTitles,
} from '../../src/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { ManualClock } from '../../src/testing/index.js';
import { eraseUser, exportSessions, importSessions, verifySessions } from '../../src/transfer/index.js';
import { DatabaseSessionService } from '../../src/typeorm.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

const answer: RunHandler = async function* () {
  yield { content: { role: 'model', parts: [{ text: 'It is on its way.' }] } };
};

let folder: string;
const services: SessionService[] = [];

function opened(sessions: SessionService): SessionService {
  services.push(sessions);
  return sessions;
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'without-nest-'));
});

afterEach(async () => {
  await Promise.all(services.splice(0).map((each) => each.close()));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const makers: readonly (readonly [name: string, make: () => SessionService])[] = [
  ['in memory', () => opened(new InMemorySessionService())],
  ['in a database', () => opened(new DatabaseSessionService({ database: join(folder, `${++files}.db`) }))],
];

describe.each(makers)('a service without Nest, %s,', (_name, make) => {
  it('answers messages', async () => {
    const agents = new AgentSessions({ sessions: make() });
    const { session, events } = await agents.run({ ...KEY, newMessage: 'Where is my order?' }, answer).result;
    await agents.close();
    expect(events.map((event) => event.content?.parts?.[0]?.text)).toContain('It is on its way.');
    expect(session.version).toBeGreaterThan(1);
  });

  it('writes summaries', async () => {
    const sessions = make();
    const summaries = new SummarizerSessionManager({ sessions }, { events: 3, keepRecentEvents: 1 });
    const session = await sessions.createSession(KEY);
    for (const text of ['one', 'two', 'three', 'four']) await say(sessions, text);
    await sessions.whenIdle();
    await summaries.whenIdle();
    expect(await summaries.getSessionSummary(KEY)).toMatchObject({ sessionId: session.id });
    await summaries.close();
  });

  it('keeps components, and deletes them with their session', async () => {
    const sessions = make();
    const components = new ComponentSession({ sessions });
    await sessions.createSession(KEY);
    await components.save(KEY, 'plan', { step: 1 });
    expect(await new ComponentSession({ sessions }).get(KEY, 'plan')).toEqual({ step: 1 });
    expect(await ComponentManager.forSession(KEY).in(components).exists()).toBe(true);
    await components.close();
    await sessions.deleteSession(KEY);
    expect(await components.exists(KEY)).toBe(false);
  });

  it('names sessions', async () => {
    const sessions = make();
    const titles = new SessionTitles({ sessions, titler: { titleOf: () => 'An order' } });
    titles.start();
    const agents = new AgentSessions({ sessions });
    await agents.run({ ...KEY, newMessage: 'Where is my order?' }, answer).result;
    await sessions.whenIdle();
    expect((await sessions.getSession(KEY))?.metadata.title).toBe('An order');
    titles.stop();
    await agents.close();
  });

  it('is checked, copied into another one, and erased', async () => {
    const [from, to] = [make(), make()];
    await from.createSession(KEY);
    await say(from, 'Hello');
    expect(await diagnose({ sessions: from })).toMatchObject({ isHealthy: true, sessions: 1 });
    const lines: string[] = [];
    for await (const line of exportSessions(from)) lines.push(line);
    await importSessions(to, lines);
    expect(await verifySessions(to, lines)).toMatchObject({ isEqual: true });
    expect(await eraseUser(to, KEY)).toMatchObject({ sessions: 1 });
    expect(await to.getSession(KEY)).toBeUndefined();
  });
});

describe('parts over a service', () => {
  const sessions = new InMemorySessionService();
  const storage = new InMemorySessionStorage();

  it.each([
    ['AgentSessions', (options: never) => new AgentSessions(options)],
    ['SummarizerSessionManager', (options: never) => new SummarizerSessionManager(options)],
    ['SessionTitles', (options: never) => new SessionTitles(options)],
    ['ComponentSession', (options: never) => new ComponentSession(options)],
  ])('take no store: %s', (_name, make) => {
    expect(() => make({ sessions, storage } as never)).toThrow(ConfigurationError);
    expect(() => make({ sessions, storage } as never)).toThrow(
      'storage is no option; the store is that of the service.',
    );
    for (const none of [{ sessions: storage }, { sessions: null }]) {
      expect(() => make(none as never)).toThrow('sessions: must be a SessionService');
    }
    expect(() => make(undefined as never)).toThrow(InvalidInputError);
  });

  it('take no store in TypeScript', () => {
    const wrong = [
      // @ts-expect-error the store of another service
      () => new AgentSessions({ sessions, storage }),
      // @ts-expect-error the store of another service
      () => new SummarizerSessionManager({ sessions, storage }),
      // @ts-expect-error both
      () => new ComponentSession({ sessions, store: new InMemoryComponentStore(), storage }),
    ];
    for (const make of wrong) expect(make).toThrow(ConfigurationError);
  });

  it('refuse what is neither a service nor a store', async () => {
    await expect(diagnose({ sessions: {} as never })).rejects.toThrow('sessions: must be a SessionService or a');
    await expect(eraseUser({} as never, KEY)).rejects.toThrow(InvalidInputError);
    expect(() => new ComponentSession({} as never)).toThrow('store: is missing');
  });

  it('let components live as long as sessions', async () => {
    const clock = new ManualClock();
    const short = opened(new InMemorySessionService({ clock, ttl: { enabled: true, sessionSeconds: 60 } }));
    const [asSessions, forever] = [
      new ComponentSession({ sessions: short }),
      new ComponentSession({ sessions: short, ttlMs: 0 }),
    ];
    await asSessions.save('a', 'plan', 1);
    await forever.save('b', 'plan', 1);
    clock.advance(61_000);
    expect([await asSessions.exists('a'), await forever.exists('b')]).toEqual([false, true]);
  });

  it('keep components of deleted sessions if told so', async () => {
    const own = opened(new InMemorySessionService());
    const components = new ComponentSession({ sessions: own, deleteWithSessions: false });
    await own.createSession(KEY);
    await components.save(KEY, 'plan', 1);
    await own.deleteSession(KEY);
    expect(await components.exists(KEY)).toBe(true);
  });

  it('find what lacks the lifetime of the service', async () => {
    const own = new InMemorySessionStorage();
    await new SessionService({ storage: own }).createSession(KEY);
    const lasting = opened(new SessionService({ storage: own, ttl: { enabled: true } }));
    expect((await diagnose({ storage: own })).findings).toEqual([]);
    expect((await diagnose({ sessions: lasting })).findings).toMatchObject([{ sessionId: KEY.sessionId }]);
  });
});

async function say(sessions: SessionService, text: string): Promise<void> {
  const session = await sessions.getOrCreateSession(KEY);
  await sessions.appendEvent({ session, event: { author: 'user', content: { role: 'user', parts: [{ text }] } } });
}
