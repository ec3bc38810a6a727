import { SessionService, InMemorySessionStorage } from '../../src/index.js';
import { SummarizerSessionManager } from '../../src/summarizer/index.js';
import { RecordedTelemetry } from './recorded-telemetry.js';

const USER = { appName: 'shop', userId: 'ann' };

describe('spans of an app', () => {
  let sessions: SessionService;
  let recorded: RecordedTelemetry;

  beforeEach(() => {
    sessions = new SessionService({ storage: new InMemorySessionStorage() });
  });

  afterEach(async () => {
    await recorded.close();
    await sessions.close();
  });

  it('of a summary are a trace of their own, linked to the append that caused it', async () => {
    recorded = new RecordedTelemetry();
    const model = { name: 'short', summarize: async () => ({ text: 'They said hello.' }) };
    const manager = new SummarizerSessionManager({ sessions }, { events: 1, keepRecentEvents: 1, model });
    const session = await sessions.createSession(USER);
    const said = { author: 'user', content: { parts: [{ text: 'Hello' }] } };
    await sessions.appendEvents({ session, events: [said, said, said] });
    await sessions.whenIdle();
    await manager.whenIdle();
    await manager.close();
    const cause = recorded.spans.find(({ name }) => name === 'agent_sessions.append');
    const summary = recorded.span('agent_sessions.summary');
    expect(summary.attributes['gen_ai.conversation.id']).toBe(session.id);
    expect(summary.parentSpanContext).toBeUndefined();
    expect(summary.links).toMatchObject([{ context: cause?.spanContext() }]);
  });

  it('have the user only if the app wants it', async () => {
    recorded = new RecordedTelemetry({ userIds: true });
    await sessions.createSession(USER);
    expect(recorded.span('agent_sessions.create').attributes['user.id']).toBe('ann');
  });

  it('end with the telemetry', async () => {
    recorded = new RecordedTelemetry();
    await sessions.createSession(USER);
    await recorded.close();
    const before = recorded.spans.length;
    await sessions.createSession(USER);
    expect(recorded.spans).toHaveLength(before);
  });
});
