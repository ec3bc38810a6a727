import type { Redis } from 'ioredis';
import { SessionService } from '../../src/index.js';
import { ComponentSession } from '../../src/components/index.js';
import { type Finding, diagnose } from '../../src/doctor/index.js';
import { until } from '../support/until.js';
import { describeRedis } from '../support/redis-servers.js';

const USER = '{APP|ann%7Cb}';
const ID = 'chat%3A1';

type Command = readonly [name: string, ...args: string[]];

/** Commands on a key of the only session of an app, and what they lead to. */
interface Damage {
  /** The key, with APP for the app. */
  readonly key: string;
  readonly commands: readonly Command[];
  readonly mended?: string;
  readonly left?: string;
  readonly isOnly?: 'redis';
}

const DAMAGES: Readonly<Record<string, Damage>> = {
  byupdate: { key: `${USER}:by-update`, commands: [['ZADD', '1', 'nobody']], mended: 'INDEX_DIFFERS' },
  wrongtime: { key: `${USER}:by-update`, commands: [['ZADD', '1', 'chat:1']], mended: 'INDEX_DIFFERS' },
  bycreation: { key: `${USER}:by-creation`, commands: [['ZREM', 'chat:1']], mended: 'INDEX_DIFFERS' },
  expiring: { key: `${USER}:expiring`, commands: [['ZREM', 'chat:1']], mended: 'INDEX_DIFFERS' },
  appindex: { key: '{APP}:by-update', commands: [['ZREM', 'ann|b\0chat:1']], mended: 'INDEX_DIFFERS', isOnly: 'redis' },
  byentry: {
    key: `${USER}:by-entry`,
    commands: [['ZADD', '0', 'tag:x\ntrue\n0000000000000001\nnobody']],
    mended: 'INDEX_DIFFERS',
  },
  noentry: { key: `${USER}:by-entry`, commands: [['UNLINK']], mended: 'INDEX_DIFFERS' },
  entries: { key: `${USER}:entries`, commands: [['HSET', 'nobody', '1\ntag:x\ntrue\n']], mended: 'INDEX_DIFFERS' },
  users: { key: '{APP}:users', commands: [['ZREM', 'ann|b']], mended: 'INDEX_DIFFERS' },
  noexpiry: { key: `${USER}:user-state`, commands: [['HDEL', '']], mended: 'SCOPE_WITHOUT_EXPIRY' },
  empty: { key: `${USER}:user-state`, commands: [['HDEL', 'k']], mended: 'SCOPE_EMPTY' },
  state: { key: `${USER}:session:${ID}`, commands: [['HSET', 'state', '"own":7']], mended: 'STATE_DIFFERS' },
  largestate: { key: `${USER}:state:${ID}`, commands: [['HSET', 'own', '7']], mended: 'STATE_DIFFERS' },
  gap: { key: `${USER}:session:${ID}`, commands: [['HDEL', '1']], left: 'EVENT_MISSING' },
  beyond: {
    key: `${USER}:session:${ID}`,
    commands: [['HSET', '3', '1\n1\nx\nghost\n{}']],
    left: 'EVENT_BEYOND_END',
  },
  altered: {
    key: `${USER}:session:${ID}`,
    commands: [['HSET', '2', '1\n1\n1\ne-2\n{"id":"e-2","author":"user","actions":{"stateDelta":{}}}']],
    left: 'EVENT_ALTERED',
  },
  anchors: { key: `${USER}:anchors:${ID}`, commands: [['UNLINK']], mended: 'ANCHOR_MISSING' },
  metadata: {
    key: `${USER}:session:${ID}`,
    commands: [['HSET', 'metadata', 'status\n"open"\n']],
    mended: 'METADATA_DIFFERS',
  },
  noids: { key: `${USER}:session:${ID}`, commands: [['HDEL', '=e-2']], mended: 'INDEX_DIFFERS' },
  nogroup: { key: `${USER}:session:${ID}`, commands: [['HDEL', '\0i:i-e-2']], mended: 'INVOCATION_DIFFERS' },
  group: { key: `${USER}:session:${ID}`, commands: [['HSET', '\0i:i-e-1', '1-2']], mended: 'INVOCATION_DIFFERS' },
  otherid: { key: `${USER}:session:${ID}`, commands: [['HSET', '=ghost', '2']], mended: 'INDEX_DIFFERS' },
};

/** Apps with a state that is a hash of keys. */
const WITH_KEYS: ReadonlySet<string> = new Set(['largestate', 'lost']);

async function fill(sessions: SessionService, appName: string): Promise<void> {
  const key = { appName, userId: 'ann|b', sessionId: 'chat:1' };
  const state = { own: 1, ...(WITH_KEYS.has(appName) && { large: 'x'.repeat(2_000) }), 'user:k': 1, 'app:k': 1 };
  const session = await sessions.createSession({ ...key, state, metadata: { status: 'open' } });
  // What came with the creation is not judged.
  await until(() => Date.now() > session.createTime + 1);
  await sessions.getSession(key);
  for (const id of ['e-1', 'e-2']) {
    const actions = { metadataDelta: { fields: { last: id } } };
    await sessions.appendEvent({ session, event: { id, invocationId: `i-${id}`, author: 'user', actions } });
  }
}

const codesOf = (findings: readonly Finding[]) => (app: string, repaired: boolean) => [
  ...new Set(findings.filter((one) => one.appName === app && one.repaired === repaired).map(({ code }) => code)),
];

describeRedis('Damage in the keys of a $name store', ['redis', 'redis-cluster'], (bench) => {
  const damages = (): [string, Damage][] =>
    Object.entries(DAMAGES).filter(([, { isOnly = bench().name }]) => isOnly === bench().name);

  async function run(name: string, ...commands: readonly Command[]): Promise<void> {
    const found = (await bench().keys()).find(([key]) => key === bench().prefix + name);
    if (!found) throw new Error(`There is no ${name}`);
    const [key, node]: readonly [string, Redis] = found;
    for (const [command, ...args] of commands) await node.call(command, key, ...args);
  }

  it('is found, and mended where keys are derived from records and events', async () => {
    const storage = bench().storage();
    const ttl = { enabled: true, sessionSeconds: 600, userStateSeconds: 600 };
    const sessions = new SessionService({ storage, ttl });
    for (const [app] of damages()) await fill(sessions, app);
    expect((await diagnose({ storage, pageSize: 20 })).findings).toEqual([]);
    for (const [app, { key, commands }] of damages()) await run(key.replace('APP', app), ...commands);

    const before = codesOf((await diagnose({ storage })).findings);
    const after = codesOf((await diagnose({ storage, repair: true })).findings);
    const again = codesOf((await diagnose({ storage })).findings);
    for (const [app, { mended, left }] of damages()) {
      const result = { app, found: before(app, false), mended: after(app, true), left: again(app, false) };
      expect(result).toEqual({
        app,
        found: expect.arrayContaining([mended ?? left]),
        mended: mended === undefined ? [] : [mended],
        left: left === undefined ? [] : [left],
      });
    }
  });

  it('is found in the sorted sets of entries, and mended', async () => {
    const storage = bench().storage();
    const components = new ComponentSession({ store: storage.components, ttlMs: 3_600_000 });
    for (const session of ['a:1', 'b', 'c']) await components.saveList(session, 'notes:1', ['kept'.repeat(4_000)]);
    await storage.agenda.put('task', 0);
    expect((await diagnose({ storage })).findings).toEqual([]);
    for (const [key, node] of await bench().keys()) {
      const [, group] = /@entries-(\d+)\}:expiring$/.exec(key) ?? [];
      if (group) await node.call('ZADD', key, 'XX', '8000000000000000', `%40${group}%3Acomponent-sessions:a:1`);
      if (key.includes('component-sessions')) await node.call('ZREM', key, 'b');
      if (/:ranks:.*components$/.test(key)) await node.unlink(key);
      if (key.includes(':waiting:agenda')) await node.call('ZADD', key, '1', 'task');
    }
    const found = async (repair: boolean): Promise<string[]> => {
      const { findings } = await diagnose({ storage, repair });
      const wrong = findings.filter(({ code }) => code === 'INDEX_DIFFERS');
      const texts = wrong.map(({ detail, repaired }) => `${/ has ([^:]*)/.exec(detail)?.[1]} ${repaired}`);
      return [...new Set(texts.map((text) => decodeURIComponent(text).replace(/\d+/, 'n')))].sort();
    };
    const spaces = ['@n:component-sessions', '@n:components', 'agenda'];
    expect(await found(false)).toEqual(spaces.map((space) => `${space} false`));
    expect(await found(true)).toEqual(spaces.map((space) => `${space} true`));
    expect((await diagnose({ storage })).findings).toEqual([]);
    expect(await components.listNames('b')).toEqual(['notes:1']);
    expect(await components.listSessionKeys()).toEqual(['a:1', 'b', 'c']);
    expect(await storage.agenda.due(1)).toMatchObject([{ name: 'task' }]);
  });

  it('is found if a session lost its record, and if a key is of nobody', async () => {
    const storage = bench().storage();
    await fill(new SessionService({ storage }), 'lost');
    await run(`{lost|ann%7Cb}:session:${ID}`, ['HDEL', 'record']);
    await run('apps', ['ZADD', '0', 'gone']);
    const [key, node] = (await bench().keys()).find(([name]) => name.includes('{lost|')) ?? [];
    await node?.set(`${key?.slice(0, key.indexOf('}') + 1)}:mystery`, 'x');
    const found = async (repair: boolean): Promise<string[]> => {
      const { findings } = await diagnose({ storage, repair });
      return findings.map(({ code, detail }) => `${code} ${detail.replace(/.*\}:/, '').replace(/ .*/, '')}`).sort();
    };
    const parts = ['ORPHAN anchors:chat%3A1', 'ORPHAN session:chat%3A1', 'ORPHAN state:chat%3A1'];
    expect(await found(false)).toEqual(expect.arrayContaining([...parts, 'UNKNOWN_KEY mystery']));
    await found(true);
    const data = parts.filter((part) => !part.includes('anchors'));
    expect((await found(false)).filter((text) => !text.startsWith('UNKNOWN'))).toEqual(data);
  });
});
