import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { DatabaseSessionService } from '../../src/typeorm.js';

const main = join(__dirname, '../../dist/main.js');

function complaint(process: ChildProcess): Promise<string> {
  return text(process.stderr ?? Readable.from([]));
}

/** The built app, started as `npm start` starts it. */
describe('npm start', () => {
  let folder: string;
  let app: ChildProcess;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agent-sessions-start-'));
  });

  afterEach(async () => {
    if (app.exitCode === null && app.signalCode === null) {
      app.kill('SIGKILL');
      await once(app, 'exit');
    }
    await rm(folder, { recursive: true });
  });

  const start = (port: string): ChildProcess =>
    spawn(process.execPath, [main], { cwd: folder, env: { ...process.env, PORT: port, NO_COLOR: '1' } });

  const sizeOf = (file: string): number => statSync(join(folder, 'data', file), { throwIfNoEntry: false })?.size ?? 0;

  /** What the app prints once it listens. */
  const greeting = async (): Promise<string> => {
    let printed = '';
    for await (const chunk of app.stdout ?? []) {
      printed += String(chunk);
      if (printed.includes('sessions in')) break;
    }
    return printed;
  };

  it('prints where it listens and what it uses, and answers there', async () => {
    app = start('0');
    const printed = await greeting();
    expect(printed).toContain(`SQLite, ${join(folder, 'data', 'sessions.db')}`);
    const [url] = /http:\/\/\S+\/health/.exec(printed) ?? [''];
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok' });
  });

  it('ends on SIGTERM with its file closed', async () => {
    app = start('0');
    await greeting();
    app.kill('SIGTERM');
    await once(app, 'exit');
    expect(sizeOf('sessions.db')).toBeGreaterThan(0);
    expect(sizeOf('sessions.db-wal')).toBe(0);
  });

  it('starts again after it was killed, on the file as it was', async () => {
    const key = { appName: 'shop', userId: 'ann', sessionId: 'kept' };
    const before = new DatabaseSessionService({ database: join(folder, 'data', 'sessions.db') });
    await before.createSession({ ...key, state: { step: 1 } });
    await before.close();
    app = start('0');
    await greeting();
    app.kill('SIGKILL');
    await once(app, 'exit');

    app = start('0');
    expect(await greeting()).toContain('listening');
    const after = new DatabaseSessionService({ database: join(folder, 'data', 'sessions.db') });
    expect((await after.getSession(key))?.state.toRecord()).toEqual({ step: 1 });
    await after.close();
  });

  it('says by name what is wrong with its configuration', async () => {
    app = start('high');
    const [stderr] = await Promise.all([complaint(app), once(app, 'exit')]);
    expect(stderr).toBe('The app could not start. PORT is "high"; it must be a whole number from 0 to 65535.\n');
    expect(app.exitCode).toBe(1);
  });

  it('says what to do when its port is taken', async () => {
    app = start('0');
    const [, port = ''] = /:(\d+)\/health/.exec(await greeting()) ?? [];
    const second = start(port);
    const [stderr] = await Promise.all([complaint(second), once(second, 'exit')]);
    expect(stderr).toContain('Set PORT to a free port.');
    expect(second.exitCode).toBe(1);
  });
});
