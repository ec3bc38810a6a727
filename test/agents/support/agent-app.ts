import { type AgentFailedError, AgentSessions, type AgentSessionsOptions } from '../../../src/agents/index.js';
import {
  InMemorySessionStorage,
  type LoggedEvent,
  SessionService,
  type SessionServiceOptions,
} from '../../../src/index.js';
import type { Clock } from '../../../src/sessions/domain/process/clock.js';
import type { SessionStorage } from '../../../src/storage.js';
import { ManualClock } from '../../../src/testing/index.js';
import type { OpenStorage } from '../../../src/testing/open-storage.js';
import { inShort } from './handlers.js';

export const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
export const SESSION = { id: KEY.sessionId, appName: KEY.appName, userId: KEY.userId };

interface AgentAppOptions extends Partial<AgentSessionsOptions> {
  readonly clock?: Clock;
  readonly usage?: SessionServiceOptions['usage'];
  readonly quotas?: SessionServiceOptions['quotas'];
}

/** Agents over a store, as one instance of an app has them. */
export class AgentApp {
  readonly sessions: SessionService;
  readonly agents: AgentSessions;
  readonly errors: unknown[] = [];
  readonly failures: AgentFailedError[] = [];

  constructor(storage: SessionStorage, { clock, usage, quotas, ...options }: AgentAppOptions = {}) {
    const onError = (error: unknown): void => void this.errors.push(error);
    this.sessions = new SessionService({
      storage,
      onBackgroundError: onError,
      onUnsavedState: onError,
      watchPollMs: 50,
      clock,
      usage,
      quotas,
    });
    this.agents = new AgentSessions({
      sessions: this.sessions,
      onError,
      onRunFailure: (failure) => void this.failures.push(failure),
      pollMs: 50,
      graceMs: 500,
      drainMs: 0,
      ...options,
    });
  }

  async log(): Promise<LoggedEvent[]> {
    const { events } = await this.sessions.listEvents({ ...KEY, limit: 1_000 });
    return events;
  }

  async logInShort(): Promise<string[]> {
    return inShort(await this.log());
  }

  async close(): Promise<void> {
    await this.agents.close();
    await this.sessions.finish();
  }
}

/** Gives each test an app over a store in memory of its own, which must have no errors in the end. */
export function forEachTest(give: (app: AgentApp) => void): void {
  let app: AgentApp;

  beforeEach(() => {
    app = new AgentApp(new InMemorySessionStorage());
    give(app);
  });

  afterEach(async () => {
    await app.close();
    expect(app.errors).toEqual([]);
  });
}

/** Instances of an app over one store with a clock of the test. */
export interface Instances {
  readonly clock: ManualClock;
  readonly storage: SessionStorage;
  start(options?: AgentAppOptions): AgentApp;
}

/** Gives each test a store of its own. The instances that it starts must have no errors in the end. */
export function forEachTestOn(
  open: (options: { readonly clock: Clock }) => Promise<OpenStorage>,
  give: (instances: Instances) => void,
): void {
  let opened: OpenStorage;
  let apps: AgentApp[];

  beforeEach(async () => {
    const clock = new ManualClock();
    opened = await open({ clock });
    const { storage } = opened;
    const started: AgentApp[] = [];
    apps = started;
    give({
      clock,
      storage,
      start(options) {
        const app = new AgentApp(storage, { clock, ...options });
        started.push(app);
        return app;
      },
    });
  });

  afterEach(async () => {
    for (const app of apps) await app.close();
    expect(apps.flatMap(({ errors }) => errors)).toEqual([]);
    await opened.destroy();
  });
}
