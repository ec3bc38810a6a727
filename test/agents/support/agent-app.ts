import { AgentSessions, type AgentSessionsOptions } from '../../../src/agents/index.js';
import { type LoggedEvent, SessionService } from '../../../src/index.js';
import type { SessionStorage } from '../../../src/storage.js';
import { inShort } from './handlers.js';

export const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
export const SESSION = { id: KEY.sessionId, appName: KEY.appName, userId: KEY.userId };

/** Agents over a store, as one instance of an app has them. */
export class AgentApp {
  readonly sessions: SessionService;
  readonly agents: AgentSessions;
  readonly errors: unknown[] = [];

  constructor(storage: SessionStorage, options: Partial<AgentSessionsOptions> = {}) {
    const onError = (error: unknown): void => void this.errors.push(error);
    this.sessions = new SessionService({ storage, onBackgroundError: onError, watchPollMs: 50 });
    this.agents = new AgentSessions({
      sessions: this.sessions,
      storage,
      onError,
      pollMs: 50,
      graceMs: 500,
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
