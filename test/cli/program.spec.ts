import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionService } from '../../src/index.js';
import { TypeOrmSessionStorage } from '../../src/typeorm.js';

const PROGRAM = join(__dirname, '../../dist/cli/main.js');

/** The built program, as a shell starts it. */
describe('The program agent-sessions', () => {
  let folder: string;
  let url: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-'));
    const database = join(folder, 'sessions.db');
    url = `sqlite:${database}`;
    const sessions = new SessionService({ storage: new TypeOrmSessionStorage({ database }) });
    const session = await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
    // More than a pipe holds.
    const content = { role: 'model', parts: [{ text: 'x'.repeat(10_000) }] };
    await sessions.appendEvents({ session, events: Array.from({ length: 50 }, () => ({ author: 'a', content })) });
    await sessions.close();
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('does not fail when its reader goes away', async () => {
    const pipe = `"$0" "$1" show shop ann s --url "$2" | head -1; echo "\${PIPESTATUS[0]}"`;
    const shell = spawn('bash', ['-c', pipe, process.execPath, PROGRAM, url]);
    const texts = { out: '', err: '' };
    shell.stdout.on('data', (chunk) => (texts.out += chunk));
    shell.stderr.on('data', (chunk) => (texts.err += chunk));
    await once(shell, 'close');
    expect(texts).toEqual({ out: 'session shop / ann / s\n0\n', err: '' });
  });

  it('says its version', async () => {
    const child = spawn(process.execPath, [PROGRAM, '--version']);
    const [said] = await once(child.stdout, 'data');
    const { version } = JSON.parse(await readFile(join(__dirname, '../../package.json'), 'utf8')) as {
      version: string;
    };
    expect([String(said), await once(child, 'close')]).toEqual([`${version}\n`, [0, null]]);
  });

  it('ends with 130 when it is interrupted', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'tail', 'shop', 'ann', 's', '--from', '50', '--url', url]);
    await once(child.stdout, 'data');
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
  });
});
