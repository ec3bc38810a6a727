import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { StoreSettings } from '../../src/config/store-settings.js';
import { type Place, describePlaces } from './support/places.js';

const script = join(__dirname, 'children/own-app.mjs');

interface RunOptions {
  readonly way: string;
  readonly settings?: unknown;
  readonly env?: Readonly<Record<string, string>>;
}

interface RunResult {
  readonly exitCode: unknown;
  /** Printed lines, without the prefix of Nest. */
  readonly lines: readonly string[];
}

/** Runs a user's app until it ends. */
async function run({ way, settings, env = {} }: RunOptions): Promise<RunResult> {
  const args = [script, JSON.stringify({ way, settings })];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env, NO_COLOR: '1' } });
  const [out, error, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  const printed = `${out}${error}`.replaceAll(/^\[Nest\] \d+ {2}- .+? (?=(LOG|ERROR|WARN) )/gm, '');
  return { exitCode, lines: printed.split('\n').filter((line) => line !== '') };
}

/** All lines except the start messages of Nest. */
function messages({ lines }: RunResult): string[] {
  return lines.filter((line) => !/^LOG \[(NestFactory|InstanceLoader)\]/.test(line));
}

/** `open-handles` checks the reasons of the others. */
const unreachable: readonly (readonly [name: string, settings: StoreSettings, reason: string])[] = [
  [
    'Redis',
    { provider: 'redis', redis: { url: 'redis://app:hunter2@127.0.0.1:1', commandTimeoutMs: 200 } },
    'There was no connection to Redis at 127.0.0.1:1 within 200 ms',
  ],
  [
    'PostgreSQL',
    { provider: 'typeorm', database: { url: 'postgres://app:hunter2@127.0.0.1:1/agents' } },
    'No server listens at 127.0.0.1:1: start it, or correct host and port in the url',
  ],
];

describe("a user's app that cannot start", () => {
  it.each(unreachable)('reports in one line that it cannot reach %s', async (_name, settings, reason) => {
    const ended = await run({ way: 'forRoot', settings: { ...settings, retryAttempts: 0 } });
    const expected = `ERROR [ExceptionHandler] StoreUnavailableError: The store of the sessions cannot be opened. ${reason}`;
    const lines = messages(ended);
    expect(lines).toHaveLength(1);
    // The code of the driver follows if it came in time.
    expect(lines[0]?.replace(/( \([^()]+\))?\.$/, '')).toBe(expected);
    expect(ended.exitCode).toBe(1);
  });

  it('tries again for a while, and says so each time', async () => {
    const [, settings] = unreachable[0] ?? [];
    const ended = await run({ way: 'forRoot', settings: { ...settings, retryAttempts: 2, retryDelayMs: 10 } });
    const [first, second, last] = messages(ended);
    const reason = String.raw`There was no connection to Redis at 127\.0\.0\.1:1 within 200 ms`;
    expect(first).toMatch(
      new RegExp(
        String.raw`^WARN \[SessionsModule\] The store of the sessions cannot be opened yet; trying again in 0\.01 s \(1 of 2\)\. ${reason}`,
      ),
    );
    expect(second).toContain('(2 of 2)');
    expect(last).toMatch(
      /^ERROR \[ExceptionHandler\] StoreUnavailableError: The store of the sessions cannot be opened\./,
    );
    expect(messages(ended)).toHaveLength(3);
    expect(ended.exitCode).toBe(1);
  });

  it('reports its invalid options once', async () => {
    const ended = await run({ way: 'forRoot', settings: { provider: 'redis', redis: { commandTimeoutMs: 0 } } });
    expect(messages(ended)).toEqual([
      'ERROR [ExceptionHandler] ConfigurationError: The configuration of sessions is wrong:',
      '  redis.commandTimeoutMs is 0; it must be a whole number from 1 to 86400000.',
    ]);
    expect(ended.exitCode).toBe(1);
  });

  it('reports its invalid variables once', async () => {
    const env = { SESSIONS_PROVIDER: 'memory', SESSIONS_TTL_ENABLED: 'on' };
    const ended = await run({ way: 'variables of the environment', env });
    expect(messages(ended)).toEqual([
      'ERROR [ExceptionHandler] ConfigurationError: The configuration of sessions is wrong:',
      '  SESSIONS_TTL_ENABLED is "on"; it must be true or false.',
    ]);
  });

  it('names the file that it cannot open', async () => {
    const settings = { provider: 'typeorm', database: { database: '/dev/null/sessions.db' } };
    const [title, ...problems] = messages(await run({ way: 'forRoot', settings }));
    expect(title).toBe('ERROR [ExceptionHandler] ConfigurationError: The configuration of sessions is wrong:');
    expect(problems).toEqual([expect.stringMatching(/^ {2}SQLite cannot open \/dev\/null\/sessions\.db: /)]);
  });

  it('reports missing options', async () => {
    const ended = await run({ way: 'forRoot without options' });
    expect(messages(ended)).toEqual([
      'ERROR [ExceptionHandler] ConfigurationError: The configuration of sessions is wrong:',
      "  The options are missing: forRoot, or the factory of forRootAsync, has to give them, such as { provider: 'memory' }.",
    ]);
  });
});

describePlaces("a user's app with sessions in $name", ({ name, open }) => {
  let place: Place;

  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.remove());

  it('logs the chosen store once, without a password', async () => {
    const ended = await run({ way: 'forRoot', settings: place.settings });
    expect(messages(ended)).toEqual([
      expect.stringMatching(/^LOG \[SessionsModule\] Sessions are kept in \S/),
      expect.stringMatching(/^LOG \[NestApplication\] Nest application successfully started/),
    ]);
    const [storeLine = ''] = messages(ended);
    const { redis, database } = { redis: undefined, database: undefined, ...place.settings };
    const url = redis?.url ?? database?.url;
    if (url !== undefined) expect(storeLine).toContain(` at ${new URL(url).hostname}`);
    expect(storeLine).toMatch(STORE_LOG[name] ?? /^$/);
    expect(ended.exitCode).toBe(0);
  });
});

const STORE_LOG: Readonly<Record<string, RegExp>> = {
  memory: /in memory: they are gone when this process ends$/,
  sqlite: /in SQLite, \/.+\/sessions\.db$/,
  redis: /in Redis at \S+:\d+, database \d+$/,
  'redis-cluster': /in Redis Cluster at \S+:\d+/,
  mariadb: /in MySQL or MariaDB at \S+, database "agent_sessions_test_\w+"$/,
  postgres: /in PostgreSQL at \S+, database "agent_sessions_test_\w+"$/,
};
