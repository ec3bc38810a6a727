import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import {
  type AgentScopeReport,
  ComponentSession,
  InMemoryComponentStore,
  Saved,
  SavedList,
  StateModuleOf,
  decodeAgentScopeId,
  importAgentScopeFiles,
  importAgentScopeRedis,
  importAgentScopeTable,
} from '../../src/components/index.js';
import { createMariaDbDatabase, dropMariaDbDatabase } from '../support/mariadb-store.js';
import { describeRedis } from '../support/redis-servers.js';
import { newDatabaseName } from '../support/reused-databases.js';
import { chosenStoreNames } from '../support/store-names.js';
import {
  type AgentScopeSession,
  SESSIONS,
  oldSession,
  readFolder,
  readKeys,
  readTable,
  writeFolders,
  writeKeys,
  writeOldFiles,
  writeOldKeys,
  writeOldTable,
  writeTable,
} from './support/agentscope-layouts.js';
import { temporaryFolder } from './support/stores.js';

const folder = temporaryFolder();
const ENCODED = Buffer.from('ann:chat 2').toString('base64url');

function open(): ComponentSession {
  return new ComponentSession({ store: new InMemoryComponentStore() });
}

async function expectImported(components: ComponentSession, id: string, theirs: AgentScopeSession): Promise<void> {
  const names = [...Object.keys(theirs.values), ...Object.keys(theirs.lists)];
  expect(await components.listNames(id)).toEqual(names.toSorted());
  for (const [key, value] of Object.entries(theirs.values)) expect(await components.get(id, key)).toEqual(value);
  for (const [key, items] of Object.entries(theirs.lists)) expect(await components.getList(id, key)).toEqual(items);
}

/** What a layout of 2025 becomes: each component is a value. */
async function expectOldImported(components: ComponentSession, id: string): Promise<void> {
  await expectImported(components, id, { values: oldSession(id), lists: {} });
}

class Memory extends StateModuleOf('memory') {
  @SavedList() messages: unknown[] = [];
}

class AgentMeta extends StateModuleOf('agent_meta') {
  @Saved() name = '';
}

/** State modules find what was imported, go on with it, and find it again. */
async function expectFound(components: ComponentSession, id: string): Promise<void> {
  const { memory_messages: messages } = SESSIONS[id]?.lists ?? {};
  const [memory, agent] = [new Memory(), new AgentMeta()];
  expect([await memory.loadIfExists(components, id), await agent.loadIfExists(components, id)]).toEqual([true, true]);
  expect([memory.messages, agent.name]).toEqual([messages, 'Friday']);
  memory.messages.push('new');
  await memory.saveTo(components, id, { onConflict: 'append-merge' });
  const again = new Memory();
  await again.loadFrom(components, id);
  expect(again.messages).toEqual([...(messages ?? []), 'new']);
}

/** Imports, changes something, and imports again. */
async function expectRepeatable(
  components: ComponentSession,
  id: string,
  importAll: (overwrite?: boolean) => Promise<AgentScopeReport>,
): Promise<void> {
  const first = await importAll();
  expect(first).toMatchObject({ kept: 0 });
  expect(first.values + first.lists).toBeGreaterThan(0);
  const [name = ''] = await components.listNames(id);
  const before = await components.getVersioned(id, name);
  await components.save(id, name, 'changed since');
  const again = { ...first, values: 0, lists: 0, items: 0, kept: first.values + first.lists };
  expect(await importAll()).toEqual(again);
  expect(await components.get(id, name)).toBe('changed since');
  expect(await importAll(true)).toEqual(first);
  expect(await components.get(id, name)).toEqual(before.value);
}

describe('An import from AgentScope', () => {
  it('reads a file for each session', async () => {
    const root = join(folder, 'old');
    writeOldFiles(root);
    const components = open();
    await expectRepeatable(components, 'chat-1', (overwrite) =>
      importAgentScopeFiles({ root, into: components, overwrite }),
    );
    await expectOldImported(components, 'chat-1');
    await expectFound(components, 'chat-1');
  });

  it('reads a folder for each session, and folders of users', async () => {
    const root = join(folder, 'folders');
    writeFolders(root);
    writeFolders(root, 'ann');
    const components = open();
    const reports: number[] = [];
    await expectRepeatable(components, 'chat-1', (overwrite) =>
      importAgentScopeFiles({
        root,
        into: components,
        overwrite,
        onProgress: ({ sessions }) => reports.push(sessions),
      }),
    );
    expect(reports).toEqual([1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]);
    const ids = ['chat-1', ENCODED, 'ann/chat-1', `ann/${ENCODED}`];
    expect(await components.listSessionKeys()).toEqual(ids.toSorted());
    for (const id of ids) await expectImported(components, id, readFolder(root, id));
    await expectFound(components, 'chat-1');
  });

  it('gives folders the ids of their sessions if it is told how', async () => {
    const root = join(folder, 'encoded');
    writeFolders(root);
    const components = open();
    await importAgentScopeFiles({ root, into: components, sessionOf: decodeAgentScopeId });
    expect(await components.listSessionKeys()).toEqual(['ann:chat 2', 'chat-1']);
    const plain = ['chat', 'chat-1', 'a.b', 'user', '', '5b0e3c1e-9d0a-4b8e-8b0a-2f3c4d5e6f70'];
    expect(plain.map(decodeAgentScopeId)).toEqual(plain);
    for (const id of ['ann:1', '群聊', 'a b'])
      expect(decodeAgentScopeId(Buffer.from(id).toString('base64url'))).toBe(id);
  });

  it('follows no link, and says what is damaged', async () => {
    const root = join(folder, 'damaged');
    const secret = join(folder, 'secret');
    mkdirSync(join(root, 'chat-1'), { recursive: true });
    mkdirSync(secret);
    writeFileSync(join(secret, 'k.json'), '"secret"');
    symlinkSync(secret, join(root, 'linked'));
    symlinkSync(join(secret, 'k.json'), join(root, 'linked.json'));
    symlinkSync(join(secret, 'k.json'), join(root, 'chat-1', 'linked.json'));
    writeFileSync(join(root, 'chat-1', 'good.json'), '1');
    writeFileSync(join(root, 'chat-1', 'torn.json'), '{"a"');
    writeFileSync(join(root, 'chat-1', 'torn.jsonl'), '1\n{"a"');
    writeFileSync(join(root, 'old.json'), 'null');
    await expect(importAgentScopeFiles({ root, into: open() })).rejects.toThrow(/no JSON|no session/);
    const components = open();
    const problems: string[] = [];
    const onProblem = ({ message }: Error): unknown => problems.push(message);
    expect(await importAgentScopeFiles({ root, into: components, onProblem })).toMatchObject({ values: 1, lists: 0 });
    expect(problems.map((problem) => String(/chat-1\/torn(\[1\])?|old/.exec(problem)?.[0])).toSorted()).toEqual([
      'chat-1/torn',
      'chat-1/torn[1]',
      'old',
    ]);
    await expectImported(components, 'chat-1', { values: { good: 1 }, lists: {} });
  });
});

for (const server of chosenStoreNames().filter((name) => name === 'mariadb')) {
  describe(`An import of the table of AgentScope in ${server}`, () => {
    it.each([false, true])('reads values and lists, with a version: %s', async (isVersion2) => {
      const database = await createMariaDbDatabase(newDatabaseName());
      try {
        const { connection, name } = database;
        await writeTable(connection, 'agentscope_sessions', isVersion2);
        const components = open();
        const query = async (text: string, values: unknown[]): Promise<unknown> =>
          (await connection.query(text, values))[0];
        await expectRepeatable(components, 'chat-1', (overwrite) =>
          importAgentScopeTable({ query, database: name, into: components, overwrite }),
        );
        expect(await components.listSessionKeys()).toEqual(Object.keys(SESSIONS).toSorted());
        for (const id of Object.keys(SESSIONS)) {
          await expectImported(components, id, await readTable(connection, 'agentscope_sessions', id));
        }
        await expectFound(components, 'chat-1');
        await expect(importAgentScopeTable({ query, table: 'a`; DROP', into: components })).rejects.toThrow('table');
      } finally {
        await dropMariaDbDatabase(database);
      }
    });

    it('reads the older table, with a row for each session, and names a table that is none', async () => {
      const database = await createMariaDbDatabase(newDatabaseName());
      try {
        const { connection, name } = database;
        await writeOldTable(connection, 'agentscope_sessions');
        await connection.query('CREATE TABLE other (id INT)');
        await connection.query(`USE \`${name}\``);
        const query = async (text: string, values: unknown[]): Promise<unknown> =>
          (await connection.query(text, values))[0];
        const components = open();
        await expectRepeatable(components, 'chat-1', (overwrite) =>
          importAgentScopeTable({ query, into: components, overwrite }),
        );
        expect(await components.listSessionKeys()).toEqual(Object.keys(SESSIONS).toSorted());
        for (const id of Object.keys(SESSIONS)) await expectOldImported(components, id);
        await expectFound(components, 'chat-1');
        // Some drivers make objects of JSON.
        for (const shown of [JSON.stringify, (data: unknown) => data]) {
          const others = open();
          const showing = async (text: string, values: unknown[]): Promise<unknown> =>
            ((await query(text, values)) as { state_data?: unknown }[]).map(({ state_data: data, ...row }) =>
              data === undefined ? row : { state_data: shown(typeof data === 'string' ? JSON.parse(data) : data) },
            );
          await importAgentScopeTable({ query: showing, into: others });
          await expectOldImported(others, 'chat-1');
        }
        for (const table of ['other', 'missing']) {
          const importing = importAgentScopeTable({ query, table, database: name, into: components });
          await expect(importing).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'table' });
        }
      } finally {
        await dropMariaDbDatabase(database);
      }
    });
  });
}

describeRedis('An import of the keys of AgentScope in $name', ['redis'], (bench) => {
  it('reads values and lists of both versions', async () => {
    const redis = bench().client() as Redis;
    const prefix = `${bench().prefix}*:`;
    await writeKeys(redis, prefix);
    await writeKeys(redis, prefix, '__anon__');
    await writeKeys(redis, `${bench().prefix}x:`);
    await redis.set(`${prefix}odd:_keys`, 'no set');
    const components = open();
    await expectRepeatable(components, 'chat-1', (overwrite) =>
      importAgentScopeRedis({ client: redis, nodes: [redis], prefix, into: components, overwrite }),
    );
    const ids = Object.keys(SESSIONS).flatMap((id) => [id, `__anon__/${id}`]);
    expect(await components.listSessionKeys()).toEqual(ids.toSorted());
    for (const id of ids) await expectImported(components, id, await readKeys(redis, prefix, id));
    expect(await components.get('chat-1', 'odd:list')).toEqual({ odd: true });
    expect(await components.exists('chat-1', 'emptied')).toBe(true);
    await expectFound(components, 'chat-1');
  });

  it('reads the older keys, with a text for each session, beside the newer ones', async () => {
    const redis = bench().client() as Redis;
    const prefix = `${bench().prefix}old:`;
    await writeOldKeys(redis, prefix);
    await writeKeys(redis, prefix, '__anon__');
    // The id of an older session begins like that of a newer one.
    await redis.set(`${prefix}__anon__/chat-1:copy`, JSON.stringify(oldSession('chat-1')));
    const components = open();
    await expectRepeatable(components, 'chat-1', (overwrite) =>
      importAgentScopeRedis({ client: redis, nodes: [redis], prefix, into: components, overwrite }),
    );
    const [older, newer] = [Object.keys(SESSIONS), Object.keys(SESSIONS).map((id) => `__anon__/${id}`)];
    expect(await components.listSessionKeys()).toEqual([...older, ...newer, '__anon__/chat-1:copy'].toSorted());
    for (const id of older) await expectOldImported(components, id);
    for (const id of newer) await expectImported(components, id, await readKeys(redis, prefix, id));
    for (const id of ['chat-1', '__anon__/chat-1', '__anon__/chat-1:copy']) {
      const memory = new Memory();
      expect([await memory.loadIfExists(components, id), memory.messages.length]).toEqual([true, 12]);
    }

    await redis.set(`${prefix}wrong`, '{"name":"no component"}');
    const importing = importAgentScopeRedis({ client: redis, nodes: [redis], prefix, into: open() });
    await expect(importing).rejects.toMatchObject({ code: 'INVALID_INPUT', path: 'wrong' });
  });
});
