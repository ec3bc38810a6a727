import { SessionService } from '../../src/index.js';

interface Closable {
  close(): Promise<void>;
}

/** Apps that are lent out with a service each: starting one takes longer than most tests. */
export class LentApps<App extends Closable> {
  readonly #free: LentApp<App>[] = [];
  readonly #all: LentApp<App>[] = [];

  constructor(private readonly start: (service: SessionService) => Promise<App>) {}

  async lend(service: SessionService): Promise<LentApp<App>> {
    const lent = this.#free.pop() ?? (await this.#another());
    lent.service = service;
    return lent;
  }

  takeBack(lent: LentApp<App>): void {
    this.#free.push(lent);
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map(({ app }) => app.close()));
  }

  async #another(): Promise<LentApp<App>> {
    const lent = new LentApp<App>();
    lent.app = await this.start(lent.stand);
    this.#all.push(lent);
    return lent;
  }
}

export class LentApp<App> {
  app!: App;
  service: SessionService | undefined;

  /** Passes everything on to the service of the moment. */
  readonly stand = new Proxy(Object.create(SessionService.prototype) as SessionService, {
    get: (target, name) => {
      const value: unknown = this.service?.[name as keyof SessionService];
      return typeof value === 'function' ? value.bind(this.service) : Reflect.get(target, name);
    },
  });
}
