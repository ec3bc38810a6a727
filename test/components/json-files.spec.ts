import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ComponentFilesError, ComponentSession, JsonFileComponentStore } from '../../src/components/index.js';
import { temporaryFolder } from './support/stores.js';

const folder = temporaryFolder();
let count = 0;

function open(root = join(folder, `${++count}`), isSynced = true): { components: ComponentSession; root: string } {
  return { components: new ComponentSession({ store: new JsonFileComponentStore({ root, isSynced }) }), root };
}

/** All files and folders below a folder. */
function everything(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' });
}

const HOSTILE = [
  ['..', '.', '...', '../x', '../../etc/passwd', '/etc/passwd', 'a/b', 'a\\b', '\\\\server\\share', 'C:\\x', 'C:'],
  ['con', 'CON', 'nul.txt', 'aux', 'com1', 'lpt9.json', 'prn', 'trailing.', '.hidden', '.locks', '.notes', '.session'],
  ['a', 'A', 'é', 'e\u0301', 'ﬁ', 'fi', 'ß', 'SS', 'ı', 'i', 'İ', 'K', 'k', '\u202Egnp', '\u200B', 'a\u200Bb'],
  ['%', '%2e%2e', '%00', '%41', '~', `~${'0'.repeat(64)}`, 'a'.repeat(300), 'A'.repeat(300), 'ä'.repeat(500)],
  [
    'a b',
    'a\tb',
    'a\nb',
    'a\u0007b',
    '\u007F',
    '-rf',
    '--',
    '*',
    '?',
    '"',
    "'",
    '`id`',
    '$(id)',
    '|',
    '<>',
    ';',
    '__proto__',
  ],
  ['constructor', 'a.json', 'a.jsonl', '.draft-x', '{}', '[]'],
].flat();

describe('JSON files', () => {
  it.each(['sessions', 'names'])(`keep ${HOSTILE.length} hostile ids inside their folder, as %s`, async (what) => {
    const outside = join(folder, `outside-${what}`);
    mkdirSync(outside);
    const { components } = open(join(outside, 'root'), false);
    const ids = what === 'names' ? HOSTILE.filter((id) => Buffer.byteLength(id) <= 255) : HOSTILE;
    for (const id of ids) {
      if (what === 'sessions') await components.save(id, 'k', id);
      else await components.saveList('s', id, [id]);
    }
    expect(ids.length).toBeGreaterThan(60);
    expect(readdirSync(outside)).toEqual(['root']);
    const listed = what === 'sessions' ? await components.listSessionKeys() : await components.listNames('s');
    expect(listed.toSorted()).toEqual(ids.toSorted());
    for (const id of ids) {
      expect(what === 'sessions' ? await components.get(id, 'k') : (await components.getList('s', id))[0]).toBe(id);
    }
    for (const id of ids) await (what === 'sessions' ? components.delete(id) : components.delete('s', id));
    expect(await components.listSessionKeys()).toEqual([]);
  });

  it('are named after session and key, for their owner only', async () => {
    const { components, root } = open();
    await components.save('chat-1', 'agent', { mood: 'calm' });
    await components.saveList('chat-1', 'messages', [{ n: 1 }]);
    await components.append('chat-1', 'messages', ['zwei ä']);
    expect(readFileSync(join(root, 'chat-1', 'agent.json'), 'utf8')).toBe('{"mood":"calm"}\n');
    expect(readFileSync(join(root, 'chat-1', 'messages.jsonl'), 'utf8')).toBe('{"n":1}\n"zwei ä"\n');
    const modes = everything(root).map((name) => {
      const stats = statSync(join(root, name));
      return [stats.isDirectory(), stats.mode & 0o777];
    });
    expect(modes.every(([isFolder, mode]) => mode === (isFolder ? 0o700 : 0o600))).toBe(true);
    expect(statSync(root).mode & 0o777).toBe(0o700);
    expect(everything(root).filter((name) => name.includes('draft') || name.endsWith('.lock'))).toEqual([]);
  });

  it('lose a last line that nobody completed, and nothing else', async () => {
    const { components, root } = open();
    const file = join(root, 's', 'k.jsonl');
    await components.saveList('s', 'k', [1, 2]);
    appendFileSync(file, '3\n{"torn":');
    utimesSync(file, 1, 1);
    expect(await components.getListVersioned('s', 'k')).toEqual({ value: [1, 2, 3], version: 2 });
    expect(readFileSync(file, 'utf8')).toBe('1\n2\n3\n{"torn":');
    await components.append('s', 'k', [4]);
    expect(await components.getListVersioned('s', 'k')).toEqual({ value: [1, 2, 3, 4], version: 3 });
    expect(readFileSync(file, 'utf8').split(/\s+/)).toEqual(['1', '2', '3', '4', '']);
    truncateSync(file, 5);
    expect(await components.getListVersioned('s', 'k')).toEqual({ value: [1, 2, 3], version: 4 });
    truncateSync(file, 4);
    expect(await components.getListVersioned('s', 'k')).toEqual({ value: [1, 2], version: 5 });
  });

  it('have an append of several items as a whole or not at all', async () => {
    const { components, root } = open();
    const file = join(root, 's', 'k.jsonl');
    await components.saveList('s', 'k', [1]);
    await components.append('s', 'k', [{ n: 2 }, 3, 'four']);
    const whole = readFileSync(file, 'utf8');
    const others = new ComponentSession({ store: new JsonFileComponentStore({ root }) });
    // A process that dies leaves the first bytes of it.
    for (let bytes = 2; bytes < whole.length - 1; bytes++) {
      writeFileSync(file, whole.slice(0, bytes));
      expect(await others.getList('s', 'k')).toEqual([1]);
    }
    utimesSync(file, 1, 1);
    await others.append('s', 'k', [5, 6]);
    expect(await others.getList('s', 'k')).toEqual([1, 5, 6]);
    writeFileSync(file, whole);
    expect(await others.getList('s', 'k')).toEqual([1, { n: 2 }, 3, 'four']);
  });

  it('of other programs are read, and their changes are new versions', async () => {
    const { components, root } = open();
    mkdirSync(join(root, 'theirs'), { recursive: true });
    writeFileSync(join(root, 'theirs', 'agent.json'), '{\n  "mood": "calm"\n}\n');
    writeFileSync(join(root, 'theirs', 'messages.jsonl'), '1\n\n2\n{"torn"');
    utimesSync(join(root, 'theirs', 'messages.jsonl'), 1, 1);
    expect(await components.listSessionKeys()).toEqual(['theirs']);
    expect(await components.getVersioned('theirs', 'agent')).toEqual({ value: { mood: 'calm' }, version: 1 });
    expect(await components.getListVersioned('theirs', 'messages')).toEqual({ value: [1, 2], version: 1 });
    writeFileSync(join(root, 'theirs', 'agent.json'), '{"mood":"wild"}');
    await expect(components.save('theirs', 'agent', 1, { version: 1 })).rejects.toMatchObject({ currentVersion: 2 });
    await components.append('theirs', 'messages', [3]);
    expect(await components.getListVersioned('theirs', 'messages')).toEqual({ value: [1, 2, 3], version: 2 });
    writeFileSync(join(root, 'theirs', 'messages.jsonl'), '"longer than all of them"\n2\n');
    expect(await components.getListVersioned('theirs', 'messages')).toEqual({
      value: ['longer than all of them', 2],
      version: 3,
    });
    writeFileSync(join(root, 'theirs', 'messages.jsonl'), '9\n2\n3\n');
    await components.saveList('theirs', 'messages', [1, 2, 3, 4]);
    expect(await components.getList('theirs', 'messages')).toEqual([1, 2, 3, 4]);
  });

  it('of other programs may lack the last line break', async () => {
    const { components, root } = open();
    mkdirSync(join(root, 'theirs'), { recursive: true });
    writeFileSync(join(root, 'theirs', 'messages.jsonl'), '1\n2');
    await components.append('theirs', 'messages', [3]);
    expect(await components.getListVersioned('theirs', 'messages')).toEqual({ value: [1, 2, 3], version: 2 });
    expect(readFileSync(join(root, 'theirs', 'messages.jsonl'), 'utf8')).toBe('1\n2\n3\n');
  });

  it.each(['value', 'list'])('with another name elsewhere change here only: a %s', async (what) => {
    const { components, root } = open();
    const other = join(folder, `linked-${what}`);
    const file = join(root, 's', what === 'list' ? 'k.jsonl' : 'k.json');
    const save = (items: number[]): Promise<number> =>
      what === 'list' ? components.saveList('s', 'k', items) : components.save('s', 'k', items);
    await save([1]);
    linkSync(file, other);
    const before = readFileSync(other, 'utf8');
    expect(await save([1, 2])).toBe(2);
    expect(await (what === 'list' ? components.getList('s', 'k') : components.get('s', 'k'))).toEqual([1, 2]);
    rmSync(file);
    linkSync(other, file);
    appendFileSync(other, what === 'list' ? '{"torn' : '\n');
    await save([1, 2, 3]);
    expect(readFileSync(other, 'utf8')).toBe(`${before}${what === 'list' ? '{"torn' : '\n'}`);
    expect(await (what === 'list' ? components.getList('s', 'k') : components.get('s', 'k'))).toEqual([1, 2, 3]);
  });

  it.each([0o777, 0o277, 0])('are for their owner, and only for them, with the umask %o', async (umask) => {
    const before = process.umask(umask);
    try {
      const { components, root } = open();
      await components.save('s', 'k', 1);
      await components.saveList('s', 'l', [1]);
      await components.append('s', 'l', [2]);
      for (const name of ['.', ...everything(root)]) {
        const stats = statSync(join(root, name));
        expect([name, stats.mode & 0o777]).toEqual([name, stats.isDirectory() ? 0o700 : 0o600]);
      }
    } finally {
      process.umask(before);
    }
  });

  it.each(['null', '5', '[]', '{}', '{"expiresAt":"x"}', '{"version":"x"}', '', 'no JSON'])(
    'count beside a note that is damaged: %j',
    async (note) => {
      const { components, root } = open();
      await components.save('s', 'k', 1);
      await components.saveList('s', 'l', [1]);
      for (const name of ['.session', 'k.json', 'l.jsonl']) writeFileSync(join(root, 's', '.notes', name), note);
      await components.append('s', 'l', [2]);
      expect([await components.get('s', 'k'), await components.getList('s', 'l')]).toEqual([1, [1, 2]]);
      expect(JSON.parse(readFileSync(join(root, 's', '.notes', '.session'), 'utf8'))).toMatchObject({ id: 's' });
    },
  );

  it('of a value that is no JSON are reported, without their path for callers', async () => {
    const { components, root } = open();
    await components.save('s', 'k', 1);
    writeFileSync(join(root, 's', 'k.json'), '{"broken');
    const error: unknown = await components.get('s', 'k').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ComponentFilesError);
    expect((error as ComponentFilesError).message).toContain('k is no JSON');
    expect((error as ComponentFilesError).publicMessage).not.toContain(root);
  });

  it.each(['session', 'notes', 'value', 'list'])('behind a link in place of the %s are not touched', async (what) => {
    const { components, root } = open();
    const secret = join(folder, `secret-${what}`);
    mkdirSync(secret);
    writeFileSync(join(secret, 'k.json'), '"secret"');
    writeFileSync(join(secret, 'k.jsonl'), '"secret"\n');
    const before = everything(secret).map((name) => readFileSync(join(secret, name), 'utf8'));
    if (what !== 'session') await components.save('s', 'first', 1);
    if (what === 'session') {
      mkdirSync(root, { recursive: true });
      symlinkSync(secret, join(root, 's'));
    } else if (what === 'notes') {
      rmSync(join(root, 's', '.notes'), { recursive: true });
      symlinkSync(secret, join(root, 's', '.notes'));
    } else {
      const file = what === 'list' ? 'k.jsonl' : 'k.json';
      symlinkSync(join(secret, file), join(root, 's', file));
    }
    const reads = what === 'list' ? components.getList('s', 'k') : components.get('s', 'k');
    const read = await reads.catch((error: unknown) => error);
    expect(read === undefined || read instanceof ComponentFilesError).toBe(true);
    await components.save('s', 'k', 'mine').catch(() => undefined);
    await components.append('s', 'k', ['mine']).catch(() => undefined);
    await components.delete('s').catch(() => undefined);
    expect(everything(secret)).toHaveLength(before.length);
    expect(everything(secret).map((name) => readFileSync(join(secret, name), 'utf8'))).toEqual(before);
  });

  it.each(['a link to nothing', 'a link', 'a folder'])(
    'behind %s in place of their lock stay as they are',
    async (what) => {
      const { components, root } = open();
      await components.save('s', 'k', 1);
      const lock = join(root, '.locks', 's.lock');
      if (what === 'a folder') mkdirSync(lock);
      else symlinkSync(join(root, what === 'a link' ? 's/k.json' : 'nothing'), lock);
      await expect(components.save('s', 'k', 2)).rejects.toThrow(ComponentFilesError);
      expect(await components.get('s', 'k')).toBe(1);
      expect(readdirSync(join(root, '.locks'))).toEqual(['s.lock']);
    },
  );

  it.each(['', 'null', '{"token":"/../../../escaped"}'])(
    'with a lock that says %j are unlocked after a minute',
    async (text) => {
      const { components, root } = open();
      await components.save('s', 'k', 1);
      const lock = join(root, '.locks', 's.lock');
      writeFileSync(lock, text);
      utimesSync(lock, 1, 1);
      expect(await components.save('s', 'k', 2)).toBe(2);
      expect(readdirSync(join(root, '.locks'))).toEqual([]);
    },
  );

  it('of a session with a long id are unlocked, also after a process died that did so', async () => {
    const { components, root } = open();
    const session = 'a'.repeat(180);
    await components.save(session, 'k', 1);
    const { host } = JSON.parse(readOwnLock()) as { host: string };
    const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
    const dead = (token: string): string => JSON.stringify({ host, token, pid: 2 ** 22 + 1, start: '' });
    writeFileSync(join(root, '.locks', `${session}.lock`), dead(first));
    writeFileSync(join(root, '.locks', `.removal-${first}`), dead(second));
    expect(await components.save(session, 'k', 2)).toBe(2);
    expect(readdirSync(join(root, '.locks'))).toEqual([]);
  });

  it('of a process that died are unlocked, those of one that lives are not', async () => {
    const { components, root } = open();
    await components.save('s', 'k', 1);
    const lock = join(root, '.locks', 's.lock');
    const host = JSON.parse(readOwnLock()) as { host: string };
    writeFileSync(lock, JSON.stringify({ ...host, token: 'dead', pid: 2 ** 22 + 1, start: '' }));
    expect(await components.save('s', 'k', 2)).toBe(2);
    writeFileSync(lock, JSON.stringify({ ...host, token: 'other', pid: process.pid, start: 'another process' }));
    expect(await components.save('s', 'k', 3)).toBe(3);
    expect(readdirSync(join(root, '.locks'))).toEqual([]);
  });
});

async function leftBehind(): Promise<{ root: string }> {
  const { components, root } = open();
  await components.save('s', 'k', 1);
  await components.append('s', 'l', [1]);
  const { host } = JSON.parse(readOwnLock()) as { host: string };
  const dead = JSON.stringify({ host, token: crypto.randomUUID(), pid: 2 ** 22 + 1, start: '' });
  const files = ['.locks/.draft-a', '.locks/.removal-b', '.locks/s.lock', 's/.draft-c', 's/.notes/.draft-d'];
  for (const file of files) writeFileSync(join(root, file), dead);
  return { root };
}
const drafts = (root: string): string[] => everything(root).filter((name) => /draft|removal|\.lock$/.test(name));

describe('What a process leaves that died', () => {
  it.each(['read', 'save', 'purge'])('is removed by the first %s of another one', async (what) => {
    const { root } = await leftBehind();
    const { components } = open(root);
    if (what === 'read') expect(await components.get('s', 'k')).toBe(1);
    if (what === 'save') await components.save('other', 'k', 1);
    if (what === 'purge') await components.purgeExpired();
    expect(drafts(root)).toEqual([]);
    expect(await components.getList('s', 'l')).toEqual([1]);
  });

  it('is removed by one that is at work already, when it meets the lock', async () => {
    const { root, components } = open();
    await components.save('s', 'k', 1);
    const { host } = JSON.parse(readOwnLock()) as { host: string };
    const dead = JSON.stringify({ host, token: crypto.randomUUID(), pid: 2 ** 22 + 1, start: '' });
    for (const file of ['.locks/s.lock', 's/.draft-c', 's/.notes/.draft-d']) writeFileSync(join(root, file), dead);
    await components.save('s', 'k', 2);
    expect(drafts(root)).toEqual([]);
  });

  it('is told from what a live one is about to use', async () => {
    const { root } = await leftBehind();
    const live = JSON.stringify({ ...(JSON.parse(readOwnLock()) as object), token: 't', pid: process.pid });
    writeFileSync(join(root, '.locks', '.draft-live'), live);
    writeFileSync(join(root, '.locks', '.draft-young'), '');
    await open(root).components.get('s', 'k');
    expect(drafts(root).toSorted()).toEqual(['.locks/.draft-live', '.locks/.draft-young']);
  });
});

/** What a lock of this process says. */
function readOwnLock(): string {
  const stat = readFileSync(`/proc/${process.pid}/stat`, 'utf8');
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return JSON.stringify({ host: `${readFileSync('/proc/sys/kernel/hostname', 'utf8').trim()} ${boot}`, start });
}
