import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import Libsql from 'libsql';
import { runCli } from '../../src/cli/run-cli.js';
import { ComponentSession, JsonFileComponentStore } from '../../src/components/index.js';
import { SessionService } from '../../src/index.js';
import { RedisSessionStorage } from '../../src/redis.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';
import { newPrefix, redisUrl, removeKeys } from '../support/redis-store.js';
import { Redis } from 'ioredis';
import { brokenPipe, cli, fullDisk } from './terminal.js';

const SESSION = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

function lines(text: string): Record<string, unknown>[] {
  const all = text.trim().split('\n');
  return all.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('agent-sessions', () => {
  let folder: string;
  let url: string;
  let database: string;
  async function withSessions(work: (sessions: SessionService) => Promise<unknown>): Promise<void> {
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ database }) });
    await work(sessions);
    await sessions.close();
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-'));
    database = join(folder, 'sessions.db');
    url = `sqlite:${database}`;
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('creates no database unless it is told to migrate', async () => {
    const early = await cli(['list', '--url', url]);
    expect(early).toMatchObject({ code: 2, out: '' });
    expect(early.err).toMatch(
      /^error CONFIGURATION_INVALID: .*the tables lack a migration; run agent-sessions migrate\.\n$/,
    );
    expect((await cli(['migrate', '--status', '--url', url])).code).toBe(1);
    const planned = await cli(['migrate', '--dry-run', '--url', url]);
    expect(planned).toMatchObject({ code: 0, err: '' });
    expect(planned.out).toContain('would run CreateSessionTables1765000000000');
    expect(existsSync(database)).toBe(false);

    expect(await cli(['migrate', '--url', url])).toMatchObject({ code: 0, err: '' });
    const status = await cli(['migrate', '--status', '--json', '--url', url]);
    expect(status.code).toBe(0);
    expect(lines(status.out)).toEqual([expect.objectContaining({ pending: [] })]);
  });

  it('asks for a store if none is named and the folder has none', async () => {
    const own = process.cwd();
    process.chdir(folder);
    try {
      for (const args of [['list'], ['show', 'shop', 'ann', 's-1'], ['migrate']]) {
        const { code, err } = await cli(args);
        expect(code).toBe(2);
        expect(err).toMatch(
          /^error CONFIGURATION_INVALID: No store is named, .*give --url \(sqlite:path, .*\), --env-file/,
        );
      }
      expect(existsSync(join(folder, 'data'))).toBe(false);
      const named = { SESSIONS_DATABASE_URL: 'sqlite:./other.db' };
      expect((await cli(['list'], { env: named })).err).toContain('the tables lack');
    } finally {
      process.chdir(own);
    }
  });

  it('lists apps and sessions, and shows a session with its log', async () => {
    await withSessions(async (sessions) => {
      const metadata = { title: 'Order \u001b[31m4711' };
      const session = await sessions.createSession({ ...SESSION, state: { step: 1 }, metadata });
      const content = { role: 'user', parts: [{ text: 'Where is\nmy order?' }] };
      await sessions.appendEvent({ session, event: { author: 'user', content } });
      const call = { role: 'model', parts: [{ functionCall: { id: 'c', name: 'find', args: {} } }] };
      const events = Array.from({ length: 250 }, (_, n) => ({ author: 'support', actions: { stateDelta: { n } } }));
      await sessions.appendEvents({ session, events: [{ author: 'support', content: call }, ...events.slice(0, 99)] });
      await sessions.appendEvents({ session, events: events.slice(99, 199) });
    });
    expect((await cli(['list', '--url', url])).out).toBe('shop\n');
    const listed = await cli(['list', 'shop', '--url', url]);
    expect(listed.out).toMatch(/ {2}ann {2}s-1 {2}201 events {2}Order \\u001b\[31m4711\n$/);
    const shown = await cli(['show', 'shop', 'ann', 's-1', '--state', '--url', url]);
    expect(shown.out.split('\n')).toHaveLength(2 + 2 + 201 + 1);
    expect(shown.out).toContain('user  Where is\\nmy order?');
    expect(shown.out).toContain('support  calls find');
    expect(shown.out).toContain('state   n = 198');
    const json = lines((await cli(['show', 'shop', 'ann', 's-1', '--json', '--url', url])).out);
    expect(json).toHaveLength(202);
    expect(json.at(-1)).toMatchObject({ seq: 201, author: 'support' });
  });

  it('explains a view, also with the settings of the app', async () => {
    const whole = await cli(['explain', 'shop', 'ann', 's-1', '--url', url]);
    expect(whole.out.split('\n')).toHaveLength(1 + 201 + 1);
    expect(whole.out).toMatch(/^view {4}201 events, about \d+ tokens\n {5}1 {2}in {3}kept {18}user {2}5 tokens\n/);
    const part = ['explain', 'shop', 'ann', 's-1', '--from', '199', '--json', '--url', url];
    const env = { SESSIONS_HISTORY_MAX_EVENTS: '2' };
    expect(lines((await cli(part, { env })).out)).toEqual([
      { view: expect.objectContaining({ events: 3 }) as unknown },
      expect.objectContaining({ seq: 199, inView: false, reason: 'overLimit' }),
      expect.objectContaining({ seq: 200, inView: true, reason: 'kept' }),
      expect.objectContaining({ seq: 201, inView: true, reason: 'kept' }),
    ]);
    const newest = lines((await cli([...part, '--newest', '1', '--to', '200'])).out);
    expect(newest.slice(1).map(({ reason }) => reason)).toEqual(['notAsked', 'notAsked']);

    const earlier = ['explain', 'shop', 'ann', 's-1', '--at', '3', '--since', '1', '--newest', '2', '--url', url];
    const then = await cli(earlier);
    const changed = ['before  1', 'stable  nothing', 'added   2-3', 'removed 1'];
    expect(then.out.split('\n').slice(1, 6)).toEqual([...changed, expect.stringContaining('1  out  notAsked')]);
    expect(then.out.split('\n')).toHaveLength(5 + 3 + 1);
    expect(await cli([...earlier, '--at', '900'])).toMatchObject({ code: 2 });
  });

  it('says what a model was given, what changed, and its prompt only if it is asked for', async () => {
    await withSessions(async (sessions) => {
      await sessions.createSession({ ...SESSION, sessionId: 'unasked' });
      const session = await sessions.createSession({ ...SESSION, sessionId: 'asked' });
      const answer = async (given: [number, number][], instructions: string): Promise<void> => {
        const usageMetadata = { promptTokenCount: 90, cachedContentTokenCount: 60, candidatesTokenCount: 7 };
        const modelRequest = { given, instructions, tools: [{ name: 'secret tool' }], durationMs: 12 };
        const event = { author: 'agent', modelVersion: 'm-1', usageMetadata, modelRequest };
        await sessions.appendEvent({ session, event });
      };
      await sessions.appendEvent({ session, event: { author: 'user' } });
      await answer([[1, 1]], 'secret one');
      await answer([[1, 2]], 'secret one');
      await answer([[2, 3]], 'secret\u001b two');
    });
    const explain = (...options: string[]) => cli(['explain', 'shop', 'ann', 'asked', '--url', url, ...options]);
    const last = await explain('--request');
    const said = ['answer  4  agent  m-1', 'given   2-3', 'tokens  90 in, 60 cached, 7 out', 'took    12 ms'];
    const changed = ['before  3', 'stable  nothing', 'added   3', 'removed 1'];
    expect(last.out.split('\n').slice(0, 8)).toEqual([...said, ...changed]);
    expect(last.out).toMatch(/\nprompt {2}[\w-]{43}, changed\ntools {3}[\w-]{43}, the same\n$/);
    expect((await explain('--request', 'last')).out).toBe(last.out);
    expect((await explain('--request', '--prompts')).out).toContain('\nsecret\\u001b two\n');
    expect((await explain('--request', '3')).out).toContain('stable  up to 1\nadded   2\nremoved nothing\n');
    const [since] = lines((await explain('--request', '4', '--since', '2', '--json')).out);
    expect(since).toMatchObject({ seq: 4, given: [[2, 3]], isExact: true, change: { seq: 2, stableUntilSeq: 0 } });
    expect(JSON.stringify(since)).not.toContain('secret');
    const [whole] = lines((await explain('--request', '3', '--json', '--prompts')).out);
    expect(whole).toMatchObject({ instructions: { value: 'secret one' }, tools: { value: [{ name: 'secret tool' }] } });
    for (const [options, message] of [
      [['--request', '1'], 'event 1 does not say what its model was given'],
      [['--prompts'], 'needs --request'],
      [['--request', '--from', '1'], 'cannot be used with'],
      [['--request', 'x'], '--request'],
    ] as const) {
      const { code, err } = await explain(...options);
      expect(code).toBe(2);
      expect(err).toContain(message);
    }
    expect(await cli(['explain', 'shop', 'ann', 'unasked', '--url', url, '--request'])).toMatchObject({ code: 2 });
    await withSessions(async (sessions) => {
      for (const sessionId of ['asked', 'unasked']) await sessions.deleteSession({ ...SESSION, sessionId });
    });
  });

  it('takes no empty address for the store of the folder', async () => {
    for (const empty of ['', ' ']) {
      const { code, err } = await cli(['migrate', '--url', empty]);
      expect([code, err]).toEqual([2, expect.stringContaining('--url is empty')]);
    }
  });

  it('redacts an event, and names where it may be said again', async () => {
    await withSessions(async (sessions) => {
      const session = await sessions.createSession({ ...SESSION, sessionId: 'pasted' });
      const content = { parts: [{ text: 'canary' }] };
      for (const step of [1, 2]) {
        await sessions.appendEvent({ session, event: { author: 'user', content, actions: { stateDelta: { step } } } });
      }
    });
    const redact = ['redact', 'shop', 'ann', 'pasted'];
    const why = ['--url', url, '--reason', 'why'];
    expect(await cli([...redact, '1', '--url', url])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--reason'),
    });
    expect(await cli([...redact, 'x', ...why])).toMatchObject({ code: 2 });
    const first = await cli([...redact, '1', ...why]);
    expect(first).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^ {5}1 {2}.* {2}user {2}\[redacted\] · sets step\n$/),
    });
    expect(first.err).toBe('events that may say the same: 2\nstate that the event still sets: step; see --state\n');
    const again = await cli([...redact, '1', ...why, '--state', '--json']);
    expect(lines(again.out)).toEqual([expect.objectContaining({ duplicate: true, alsoIn: [] })]);
    let seq: number | undefined;
    await withSessions(async (sessions) => {
      const event = { author: 'user', actions: { stateDelta: { '\u001b[31m': 1 } } };
      ({ seq } = await sessions.appendEvent({ session: { ...SESSION, id: 'pasted' }, event }));
    });
    const acting = await cli([...redact, String(seq), ...why]);
    expect(acting.err).toBe('state that the event still sets: \\u001b[31m; see --state\n');
    expect((await cli(['show', 'shop', 'ann', '\u001b[31m', '--url', url])).err).not.toContain('\u001b');
    await withSessions((sessions) => sessions.deleteSession({ ...SESSION, sessionId: 'pasted' }));
  });

  it('takes the variables of the app, from the environment and from a file', async () => {
    const file = join(folder, 'app.env');
    await writeFile(file, `SESSIONS_DATABASE_URL=${url}\nSESSIONS_ACCESS=open\nSESSIONS_TTL_ENABLED=true\nPORT=3000\n`);
    expect(await cli(['list', '--env-file', file])).toMatchObject({ code: 0, out: 'shop\n' });
    const env = { SESSIONS_DATABASE_URL: `sqlite:${join(folder, 'other.db')}` };
    expect((await cli(['list', '--env-file', file], { env })).err).toContain('other.db');
    expect(await cli(['list'], { env: { SESSIONS_PROVIDER: 'memory' } })).toMatchObject({ code: 2 });
  });

  it('ends quietly when nobody reads on', async () => {
    const stdout = brokenPipe(200);
    let err = '';
    const stderr = Object.assign(brokenPipe(Infinity), {});
    stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const io = { stdout, stderr, stdin: Readable.from([]), env: {}, signal: new AbortController().signal };
    expect(await runCli(['show', 'shop', 'ann', 's-1', '--url', url], io)).toBe(0);
    expect(err).toBe('');
  });

  it.each([['show', 'shop', 'ann', 's-1'], ['export'], ['list']])(
    'says that a result was not written: %s',
    async (...args) => {
      let err = '';
      const stderr = brokenPipe(Infinity).on('data', (chunk: Buffer) => (err += chunk.toString()));
      const io = {
        stdout: fullDisk(),
        stderr,
        stdin: Readable.from([]),
        env: {},
        signal: new AbortController().signal,
      };
      expect(await runCli([...args, '--url', url], io)).toBe(5);
      expect(err).toContain('error ENOSPC: ');
    },
  );

  it('shows help to a reader who goes away', async () => {
    const stdout = brokenPipe(10);
    const io = {
      stdout,
      stderr: brokenPipe(Infinity),
      stdin: Readable.from([]),
      env: {},
      signal: new AbortController().signal,
    };
    expect(await runCli(['--help'], io)).toBe(0);
  });

  it('follows a session until it is interrupted', async () => {
    const controller = new AbortController();
    const tailing = cli(['tail', 'shop', 'ann', 's-1', '--from', '201', '--json', '--url', url], {
      signal: controller.signal,
      onOutput: (text) => {
        const seen = lines(text).map(({ seq }) => seq);
        if (seen.length === 1)
          void withSessions((sessions) =>
            sessions.appendEvent({ session: { ...SESSION, id: 's-1' }, event: { author: 'a' } }),
          );
        if (seen.includes(202)) controller.abort();
      },
    });
    const { code, out } = await tailing;
    expect(code).toBe(0);
    expect(lines(out).map(({ seq }) => seq)).toEqual([201, 202]);
  });

  it('exports to a file of its own user, and imports into another store, repeatedly', async () => {
    const file = join(folder, 'all.ndjson');
    expect(await cli(['export', '-o', file, '--url', url])).toMatchObject({ code: 0, out: '' });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const piped = await cli(['export', '--app', 'shop', '--url', url]);
    expect(lines(piped.out)).toHaveLength((await readFile(file, 'utf8')).trim().split('\n').length);

    const prefix = newPrefix();
    const target = ['--url', redisUrl, '--prefix', prefix];
    const storage = new RedisSessionStorage({ url: redisUrl, prefix });
    const node = new Redis(redisUrl);
    try {
      const dry = await cli(['import', file, '--dry-run', ...target]);
      expect(dry).toMatchObject({ code: 0, out: expect.stringContaining('would import 1 new') });
      expect((await cli(['import', file, '--verify', ...target])).code).toBe(1);
      expect((await cli(['import', '-', '--json', ...target], { stdin: piped.out })).out).toContain('"created":1');
      expect((await cli(['import', file, ...target])).out).toContain('1 unchanged');
      expect(await cli(['import', file, '--verify', ...target])).toMatchObject({ code: 0 });
      expect(await cli(['import', file, '--verify', '--replace', ...target])).toMatchObject({
        code: 2,
        err: expect.stringContaining("'--verify' cannot be used with option '--replace'"),
      });
      expect(await cli(['verify', '--strict', ...target])).toMatchObject({ code: 0 });

      expect(await cli(['erase-user', 'shop', 'ann', ...target])).toMatchObject({ code: 2, out: '' });
      expect(await cli(['erased', 'shop', 'ann', ...target])).toMatchObject({ code: 1 });
      const why = ['--reason', 'ticket 12'];
      const erased = await cli(['erase-user', 'shop', 'ann', '--yes', 'ann', ...why, ...target]);
      expect(erased).toMatchObject({ code: 0, out: 'erased 1 sessions of ann\n' });
      const proof = await cli(['erased', 'shop', 'ann', ...target]);
      expect(proof).toMatchObject({
        code: 0,
        out: expect.stringMatching(/1 sessions: ticket 12; .* nothing of the user/),
      });
      expect(await cli(['migrate', '--status', ...target])).toMatchObject({ code: 0 });
    } finally {
      await storage.close();
      await removeKeys([node], prefix);
      node.disconnect();
    }
  });

  it('makes a file that was there one of its own user', async () => {
    const file = join(folder, 'readable.ndjson');
    await writeFile(file, 'old', { mode: 0o644 });
    expect((await cli(['export', '-o', file, '--url', url])).code).toBe(0);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const piped = await cli(['export', '-o', '-', '--url', url]);
    expect(lines(piped.out)).toHaveLength((await readFile(file, 'utf8')).trim().split('\n').length);
  });

  it.each([
    ['export', []],
    ['erase-user', ['shop', 'ann', '--yes', 'ann']],
  ])('takes no folder that is missing for an empty one: %s', async (command, args) => {
    const named = [command, ...args, '--components', join(folder, 'misspelled'), '--url', url];
    expect(await cli(named)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('error ENOENT: ') });
    expect(await cli(['show', 'shop', 'ann', 's-1', '--no-events', '--url', url])).toMatchObject({ code: 0 });
  });

  it('moves component state in JSON files, leaves out what differs or is damaged, and says so by its exit code', async () => {
    const [files, restored, file] = ['components', 'restored', 'moved.ndjson'].map((name) => join(folder, name));
    const components = new ComponentSession({ store: new JsonFileComponentStore({ root: files ?? '' }) });
    await components.saveList(SESSION, 'notes', ['a', 'b']);
    const write = ['export', '-o', file ?? '', '--url', url];
    expect((await cli([...write, '--components', files ?? ''])).code).toBe(0);
    const read = ['import', file ?? '', '--url', url, '--components', restored ?? ''];
    expect(await cli(read)).toMatchObject({ code: 0, out: expect.stringContaining(', 1 components; 1 unchanged') });
    expect((await cli([...read, '--verify'])).code).toBe(0);
    const copy = new ComponentSession({ store: new JsonFileComponentStore({ root: restored ?? '' }) });
    await copy.saveList(SESSION, 'notes', ['other']);
    expect(await cli(read)).toMatchObject({
      code: 5,
      err: expect.stringMatching(/TRANSFER_CONFLICT.* --skip-conflicts/),
    });
    expect(await cli([...read, '--skip-conflicts'])).toMatchObject({ code: 1, err: expect.stringContaining('notes') });
    expect((await cli([...read, '--skip-conflicts', '--replace'])).code).toBe(2);
    expect((await cli([...read, '--replace'])).code).toBe(0);
    expect(await copy.getList(SESSION, 'notes')).toEqual(['a', 'b']);

    const damaged = (await readFile(file ?? '', 'utf8')).replace('"kind":"event"', '"kind":"evnt"');
    const stdin = ['import', '-', '--url', `sqlite:${join(folder, 'third.db')}`];
    await cli(['migrate', ...stdin.slice(2)]);
    const bare = ['import', file ?? '', ...stdin.slice(2), '--no-components', '--no-shared'];
    expect(await cli(bare)).toMatchObject({ code: 0, out: expect.stringContaining(', 0 components') });
    expect((await cli([...bare, '--verify'])).code).toBe(0);
    expect((await cli(stdin, { stdin: damaged })).code).toBe(5);
    const skipped = await cli([...stdin, '--skip-bad'], { stdin: damaged });
    expect(skipped).toMatchObject({ code: 1, out: expect.stringContaining('2 bad') });
    expect(skipped.err).toContain('its `kind` is unknown');

    expect(
      (await cli(['erase-user', 'shop', 'ann', '--yes', 'ann', '--components', restored ?? '', ...stdin.slice(2)]))
        .code,
    ).toBe(0);
    expect(await copy.listSessionKeys()).toEqual([]);
  });

  it('checks and mends a store, and says by its exit code whether something is wrong', async () => {
    expect(await cli(['verify', '--url', url])).toMatchObject({ code: 0, err: '' });
    const connection = new Libsql(database);
    connection.exec(`UPDATE agent_sessions SET state = REPLACE(state, '"n":', '"n":7')`);
    connection.close();
    const found = await cli(['verify', '--json', '--url', url]);
    expect(found.code).toBe(1);
    expect(lines(found.out)).toEqual([
      expect.objectContaining({ code: 'STATE_DIFFERS', ...SESSION, repaired: false }),
      expect.objectContaining({ isHealthy: false, errors: 1, sessions: 1 }),
    ]);
    const mended = await cli(['verify', '--repair', '--app', 'shop', '--url', url]);
    expect(mended.code).toBe(0);
    expect(mended.out).toMatch(/^repaired {2}STATE_DIFFERS {2}shop \/ ann \/ s-1: /);
    expect((await cli(['verify', '--url', url])).code).toBe(0);
  });

  it('removes what has expired', async () => {
    expect(await cli(['purge', '--url', url])).toMatchObject({ code: 0, out: expect.stringContaining('removed 0') });
  });

  it('removes what a policy does not keep, and counts it before', async () => {
    const policy = join(folder, 'policy.json');
    await writeFile(policy, JSON.stringify({ rules: [{ app: 'nobody', keep: '1h' }] }));
    for (const args of [['--dry-run'], []]) {
      const { code, out } = await cli(['retention', policy, ...args, '--json', '--url', url]);
      expect([code, ...lines(out)]).toMatchObject([0, { held: 0, rules: [{ due: 0, removed: 0 }] }]);
    }
    await writeFile(policy, '{ rules }');
    expect(await cli(['retention', policy, '--url', url])).toMatchObject({ code: 2, out: '' });
  });

  it.each([
    [['show', 'shop', 'ann', 'nobody'], 4, 'SESSION_NOT_FOUND'],
    [['list', 'shop', '--limit', 'many'], 2, 'USAGE'],
    [['lst'], 2, 'USAGE'],
    [['import', '/does/not/exist'], 2, 'ENOENT'],
    [['import', '/'], 2, 'EISDIR'],
  ])('tells an error of %j in one line', async (args, code, name) => {
    const result = await cli([...args, '--url', url]);
    expect(result).toMatchObject({ code, out: '' });
    expect(result.err).toMatch(new RegExp(`^error ${name}: [^\\n]+\\n$`));
    const json = await cli([...args, '--json', '--url', url]);
    expect(JSON.parse(json.err)).toMatchObject({ error: { code: name } });
  });

  it('shows no password', async () => {
    const secret = 'hunter2';
    for (const env of [
      { SESSIONS_DATABASE_URL: `postgres://app:${secret}@127.0.0.1:1/x` },
      { SESSIONS_REDIS_URL: `redis://:${secret}@127.0.0.1:1` },
    ]) {
      const { code, err } = await cli(['list'], { env });
      expect(code).toBe(3);
      expect(err).toMatch(/^error STORE_UNAVAILABLE: [^\n]+\n$/);
      expect(err).not.toContain(secret);
    }
    const { err } = await cli(['list', '--url', `postgre://app:${secret}@host/x`]);
    expect(err).not.toContain(secret);
  });

  it('shows help, and one line with the progress on a terminal', async () => {
    expect(await cli(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('erase-user') });
    expect((await cli([])).code).toBe(2);
    const file = join(folder, 'terminal.ndjson');
    const { err } = await cli(['export', '-o', file, '--url', url], { isTerminal: true });
    const clear = '\r\u001b[K';
    // A slow machine tells more of the progress.
    const [before, first, ...more] = err.split(clear);
    expect([before, first]).toEqual(['', 'exported 1 lines']);
    expect(more.pop()).toMatch(/^exported \d+ lines\n$/);
    for (const line of more) expect(line).toMatch(/^exported \d+ lines$/);
  });
});
