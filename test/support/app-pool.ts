import { SessionService } from '../../src/index.js';

interface Closable {
  close(): Promise<void>;
}

/** A pool of apps, each with an exchangeable service. Starting an app takes longer than most tests. */
export class AppPool<App extends Closable> {
  readonly #free: PooledApp<App>[] = [];
  readonly #all: PooledApp<App>[] = [];

  constructor(private readonly start: (service: SessionService) => Promise<App>) {}

  async take(service: SessionService): Promise<PooledApp<App>> {
    const pooled = this.#free.pop() ?? (await this.#another());
    pooled.service = service;
    return pooled;
  }

  giveBack(pooled: PooledApp<App>): void {
    this.#free.push(pooled);
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map(({ app }) => app.close()));
  }

  async #another(): Promise<PooledApp<App>> {
    const pooled = new PooledApp<App>();
    pooled.app = await this.start(pooled.stand);
    this.#all.push(pooled);
    return pooled;
  }
}

export class PooledApp<App> {
  app!: App;
  service: SessionService | undefined;

  /** Forwards all calls to the current service. */
  readonly stand = new Proxy(Object.create(SessionService.prototype) as SessionService, {
    get: (target, name) => {
      const value: unknown = this.service?.[name as keyof SessionService];
      return typeof value === 'function' ? value.bind(this.service) : Reflect.get(target, name);
    },
  });
}
