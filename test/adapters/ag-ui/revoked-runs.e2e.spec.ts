import { AgentSessions, AgentsModule } from '../../../src/agents/index.js';
import { AgUiModule } from '../../../src/adapters/ag-ui/index.js';
import { type AccessUser, SessionAccess } from '../../../src/sessions/rest/index.js';
import { RestApp, frameworks } from '../../rest/rest-app.js';
import { until } from '../../support/until.js';
import { Support, closeGate } from './support/agent.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 't1' };

/** A rule that can revoke the access of its only user. */
class RevocableAccess extends SessionAccess {
  isRevoked = false;

  override userOf(): AccessUser {
    return { id: 'ann' };
  }

  allows(): boolean {
    return !this.isRevoked;
  }
}

describe.each(frameworks)('The stream of a run on %s', (framework) => {
  it('ends when access is revoked, as if the thread were missing, and the run goes on', async () => {
    const access = new RevocableAccess();
    const app = await RestApp.start(framework, {
      access,
      streams: { recheckSeconds: 0.02 },
      isAccessGlobal: true,
      imports: [
        AgentsModule.forRoot({ isGlobal: true, pollMs: 50, drainMs: 0, partials: { flushMs: 1 } }),
        AgentsModule.forFeature([Support]),
        AgUiModule.forRoot(),
      ],
    });
    try {
      closeGate();
      const messages = [{ id: 'u1', role: 'user', content: 'slowly' }];
      const response = await fetch(`${app.url}/apps/shop/users/ann/ag-ui/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ threadId: 't1', runId: 'r1', messages }),
      });
      const isRunning = async () => (await app.sessions.getTurn(KEY)) !== undefined;
      await until(isRunning);
      access.isRevoked = true;
      // The gate is closed: the stream ends before the run.
      const said = await response.text();
      expect(said).toContain('"code":"SESSION_NOT_FOUND"');
      expect(said).not.toContain('RUN_FINISHED');
      expect(await isRunning()).toBe(true);
      await app.get(AgentSessions).stop(KEY);
    } finally {
      await app.close();
    }
  });
});
