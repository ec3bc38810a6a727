import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The block of commands below a heading of a page. */
function commandsOf(page: string, heading: string): string[] {
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(`\n## ${heading}\n`);
  const block = /```sh\n(?<commands>.*?)```/s.exec(text.slice(from))?.groups?.commands;
  if (from < 0 || block === undefined) throw new Error(`${page} has no commands under "${heading}"`);
  return block.split('\n').filter((line) => line !== '');
}

/** What somebody does who has cloned the repository and has read the first page only. */
describe('a newcomer', () => {
  let folder: string;
  let app: ChildProcess;
  let printed = '';
  let address: string;

  /** What commands print that are given to one shell, one after the other. */
  async function outputsOf(commands: readonly string[]): Promise<string[]> {
    const marked = commands.map((command) => `${command}\necho; echo '~~~~'`).join('\n');
    const script = marked.replaceAll('localhost:3000', address.replace('http://', ''));
    const { stdout } = await run('bash', ['-c', `${script}\nwait`]);
    return stdout.split('\n~~~~\n').map((output) => output.trim());
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-newcomer-'));
    const { NODE_ENV: _test, ...env } = process.env;
    const settings = { PORT: '0', SESSIONS_DATABASE_URL: `sqlite:${join(folder, 'sessions.db')}`, NO_COLOR: '1' };
    const [start = ''] = commandsOf('README.md', 'Try it');
    // The packages are there: these tests run with them.
    const command = start.replace(/#.*/, '').trim().replace('npm ci && ', '');
    expect(command).toBe('npm start');
    app = spawn('npm', ['start'], { cwd: resolve('.'), env: { ...env, ...settings }, detached: true });
    for await (const chunk of app.stdout ?? []) {
      printed += String(chunk);
      if (/\/inspector#.+\n/.test(printed)) break;
    }
    address = /(?<address>http:\/\/\S+)\/health/.exec(printed)?.groups?.address ?? '';
  });

  afterAll(async () => {
    // npm, its shell and the app.
    if (app.pid !== undefined && app.exitCode === null) process.kill(-app.pid, 'SIGKILL');
    if (app.exitCode === null && app.signalCode === null) await once(app, 'exit');
    await rm(folder, { recursive: true });
  });

  it('sees a streamed answer after the commands that the app prints', async () => {
    const commands = printed.split('\n').flatMap((line) => /curl .+/.exec(line)?.[0] ?? []);
    expect(commands).toHaveLength(2);
    const [, streamed = ''] = await outputsOf(commands);
    const [said = '', end] = streamed.split('event: end\n');
    expect(end?.trim()).toBe('data: {}');
    const events = [...said.matchAll(/^data: ?(?<json>.+)$/gm)].map(
      ({ groups }) =>
        JSON.parse(groups?.json ?? '') as { partial?: boolean; content?: { parts?: { text?: string }[] } },
    );
    expect(events.filter(({ partial }) => partial === true).length).toBeGreaterThan(1);
    expect(events.at(-1)?.content?.parts?.[0]?.text).toMatch(/\w+/);
  });

  it('finds every address that the app prints', async () => {
    const addresses = new Set(printed.match(/(?<=^ .*)http:\/\/[^\s']+$/gm));
    const complete = [...addresses].filter((found) => !found.includes('{'));
    expect(complete.length).toBeGreaterThan(5);
    for (const found of complete) {
      // GraphQL asks for a query.
      const expected = found.endsWith('/graphql') ? 400 : 200;
      expect([found, (await fetch(found)).status]).toEqual([found, expected]);
    }
  });

  it('can run each command that the docs give for more', async () => {
    const commands = commandsOf('docs/agents-http.md', 'Try it');
    const answering = commands.findIndex((command) => command.includes('APPROVAL_ID'));
    const settings = commands.filter((command) => /^[A-Z]+=/.test(command));
    const before = await outputsOf(commands.slice(0, answering));
    expect(JSON.parse(before[settings.length] ?? '')).toMatchObject({ id: 's1' });
    expect(before.join('\n')).toContain('Hello there');
    const { approvals } = JSON.parse(before[answering - 1] ?? '') as { approvals: { approvalId: string }[] };
    const approvalId = encodeURIComponent(approvals[0]?.approvalId ?? '');
    const rest = commands.slice(answering).map((command) => command.replace('APPROVAL_ID', approvalId));
    const after = await outputsOf([...settings, ...rest]);
    expect(after[settings.length]).toMatch(/refund/i);
    // The run that is stopped writes beside it.
    expect(after.join('\n')).toMatch(/\{"stopped":(true|false)\}/);
    for (const output of [...before, ...after]) expect(output).not.toMatch(/"statusCode"|"code":/);
  });
});
