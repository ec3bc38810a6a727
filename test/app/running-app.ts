import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const main = join(__dirname, '../../dist/main.js');

/** The built app in its own process and folder. */
export class RunningApp {
  #printed = '';

  private constructor(
    readonly process: ChildProcess,
    private readonly folder: string,
  ) {
    process.stdout?.on('data', (chunk) => (this.#printed += String(chunk)));
    process.stderr?.on('data', (chunk) => (this.#printed += String(chunk)));
  }

  /** @param script default: the app of `npm start` */
  static async start(settings: Record<string, string> = {}, script = main): Promise<RunningApp> {
    const folder = await mkdtemp(join(tmpdir(), 'agent-sessions-running-'));
    const { NODE_ENV: _test, ...env } = process.env;
    const child = spawn(process.execPath, [script], {
      cwd: folder,
      env: { ...env, PORT: '0', NO_COLOR: '1', ...settings },
    });
    const app = new RunningApp(child, folder);
    try {
      await app.prints(/curl .+\n/);
    } catch (error) {
      await app.remove();
      throw error;
    }
    return app;
  }

  get printed(): string {
    return this.#printed;
  }

  get url(): string {
    return /listening on\s+(\S+)/.exec(this.#printed)?.[1] ?? '';
  }

  get database(): string {
    return join(this.folder, 'data', 'sessions.db');
  }

  /** Waits until the app has printed text that matches. */
  async prints(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#printed)) {
      if (this.process.exitCode !== null) throw new Error(`The app ended: ${this.#printed}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Waits for the end of the process. Returns the exit code or the signal. */
  async ended(): Promise<number | string | null> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'exit');
    return this.process.exitCode ?? this.process.signalCode;
  }

  async remove(): Promise<void> {
    if (this.process.exitCode === null) this.process.kill('SIGKILL');
    await this.ended();
    await rm(this.folder, { recursive: true, force: true });
  }
}
