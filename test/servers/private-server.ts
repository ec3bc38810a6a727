import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.js';
import { Keeper, type Owner, type Program } from './keeper.js';
import type { ServerProcess, StartedServer } from './server-kind.js';

/** How to start a server in a folder, on a port of 127.0.0.1. */
export interface ServerPlan {
  readonly owner?: Owner;
  /** A program that must run once before the server starts. */
  readonly preparation?: (folder: string) => Program;
  readonly program: (folder: string, port: number) => Program;
  readonly addressAt: (port: number) => string;
  /** Throws until the server at the address works. */
  readonly check: (address: string) => Promise<unknown>;
}

const READY_LIMIT_MS = 60_000;
const POLL_MS = 20;
const ATTEMPTS = 3;

/** A server with one process, in a temporary folder. */
export class PrivateServer implements StartedServer, ServerProcess {
  readonly processes: readonly ServerProcess[] = [this];
  #ended: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly plan: ServerPlan,
    private readonly keeper: Keeper,
    private port: number,
  ) {}

  /** Starts a server and waits until it works. */
  static async start(plan: ServerPlan): Promise<PrivateServer> {
    const keeper = await Keeper.start(plan.owner);
    try {
      if (plan.preparation) await prepare(keeper, plan.preparation(keeper.folder));
      const server = new PrivateServer(plan, keeper, await freePort());
      // Another process may take the port before the server does. Then the next attempt uses another port.
      await server.#launch(async () => (server.port = await freePort()));
      return server;
    } catch (error) {
      await keeper.end();
      throw error;
    }
  }

  get address(): string {
    return this.plan.addressAt(this.port);
  }

  get folder(): string {
    return this.keeper.folder;
  }

  async kill(): Promise<void> {
    this.keeper.kill();
    await this.#ended;
  }

  async restart(): Promise<void> {
    // PostgreSQL does not start while a child process of the killed server is still running.
    await this.#launch(() => delay(500));
  }

  async stop(): Promise<void> {
    await this.keeper.end();
  }

  async #launch(beforeNextAttempt: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
      if (await this.#attempt()) return;
      await beforeNextAttempt();
    }
    if (!(await this.#attempt())) throw new Error(`The server ended at once:\n${this.keeper.log()}`);
  }

  /** Starts the server and waits until it works. Returns false if it ended before that. */
  async #attempt(): Promise<boolean> {
    const run = new AbortController();
    this.#ended = this.keeper.run(this.plan.program(this.keeper.folder, this.port)).then(() => run.abort());
    const giveUpAt = Date.now() + READY_LIMIT_MS;
    while (!run.signal.aborted) {
      try {
        await this.plan.check(this.address);
        return !run.signal.aborted;
      } catch (error) {
        if (Date.now() > giveUpAt)
          throw new Error(`The server did not get ready:\n${this.keeper.log()}`, { cause: error });
        await delay(POLL_MS);
      }
    }
    return false;
  }
}

/** The installer of MariaDB fails now and then on a busy machine. It may run again on what it left. */
async function prepare(keeper: Keeper, preparation: Program): Promise<void> {
  const first = await keeper.runToEnd(preparation);
  const how = first === '0' ? first : await keeper.runToEnd(preparation);
  if (how !== '0') throw new Error(`${preparation.command} ended with ${how}:\n${keeper.log()}`);
}
