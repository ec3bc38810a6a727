import { SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api';
import { AgentSessions } from '../../src/agents/index.js';
import { SessionService } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { testStores } from '../support/stores.js';
import { RecordedTelemetry } from './recorded-telemetry.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'cart' };
const SECRET = 'my card is 4111';
const SAID = { author: 'user', content: { role: 'user', parts: [{ text: SECRET }] } };

describe.each(testStores)('spans of sessions in $name', ({ open }) => {
  let opened: OpenStorage;
  let sessions: SessionService;
  let recorded: RecordedTelemetry;

  beforeEach(async () => {
    opened = await open({});
    sessions = new SessionService({ storage: opened.storage });
    recorded = new RecordedTelemetry();
  });

  afterEach(async () => {
    await recorded.close();
    await sessions.finish();
    await opened.destroy();
  });

  it('have the conversation, also if its id was generated, and what was stored', async () => {
    const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
    const event = { id: 'said', ...SAID };
    await sessions.appendEvents({ session, events: [event, { author: 'agent' }] });
    await sessions.appendEvent({ session, event });
    expect(recorded.spans.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['agent_sessions.create', attributesOf('create', session.id)],
      ['agent_sessions.append', { ...attributesOf('append', session.id), 'agent_sessions.stored_events': 2 }],
      ['agent_sessions.append', { ...attributesOf('append', session.id), 'agent_sessions.stored_events': 0 }],
    ]);
    expect(recorded.spans.every(({ kind }) => kind === SpanKind.INTERNAL)).toBe(true);
  });

  it('have the stable code of an error, and no message', async () => {
    await sessions.createSession(KEY);
    await expect(sessions.createSession(KEY)).rejects.toThrow('exists already');
    const [, failed] = recorded.spans;
    expect(failed?.attributes).toEqual({ ...attributesOf('create', 'cart'), 'error.type': 'SESSION_EXISTS' });
    expect(failed?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(failed?.events).toEqual([]);
  });

  it('of a run contain those of its turn, its appends and its handler', async () => {
    await sessions.createSession(KEY);
    const agents = new AgentSessions({ sessions });
    const tracer = recorded.tracerProvider.getTracer('app');
    const { result } = agents.run({ ...KEY, agentName: 'helper', newMessage: SECRET }, async function* () {
      tracer.startActiveSpan('model', (span) => span.end());
      yield SAID;
    });
    await result;
    await agents.close();
    const run = recorded.span('invoke_agent helper');
    expect(run.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'helper',
      'gen_ai.conversation.id': 'cart',
    });
    expect(run.parentSpanContext).toBeUndefined();
    const turn = recorded.span('agent_sessions.turn');
    expect(turn.parentSpanContext).toEqual(run.spanContext());
    const inTurn = recorded.spans.filter(
      ({ parentSpanContext: parent }) => parent?.spanId === turn.spanContext().spanId,
    );
    expect(inTurn.map(({ name }) => name)).toEqual([
      'agent_sessions.get',
      'agent_sessions.append',
      'model',
      'agent_sessions.append',
      'agent_sessions.append',
    ]);
    for (const { name, attributes } of recorded.spans) {
      if (name !== 'model') expect(attributes['gen_ai.conversation.id']).toBe('cart');
    }
  });

  it('belong to the span of the app that is active', async () => {
    const tracer = recorded.tracerProvider.getTracer('app');
    const outer = tracer.startSpan('request');
    await context.with(trace.setSpan(context.active(), outer), () => sessions.createSession(KEY));
    outer.end();
    expect(recorded.span('agent_sessions.create').parentSpanContext).toEqual(outer.spanContext());
  });

  it('of a fork are linked to the last span of its source', async () => {
    const session = await sessions.createSession(KEY);
    await sessions.appendEvent({ session, event: SAID });
    const append = recorded.span('agent_sessions.append');
    const copy = await sessions.forkSession(KEY);
    const fork = recorded.span('agent_sessions.fork');
    expect(fork.attributes).toEqual({ ...attributesOf('fork', copy.id), 'agent_sessions.source.id': 'cart' });
    expect(fork.links).toMatchObject([
      { context: append.spanContext(), attributes: { 'gen_ai.conversation.id': 'cart' } },
    ]);
  });

  it('have no ids that were refused', async () => {
    const userId = 'ann';
    for (const id of ['x'.repeat(100_000), 'a\u0000b', '\ud800', ' ']) {
      await expect(sessions.getSession({ ...KEY, sessionId: id })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await expect(sessions.listSessions({ appName: id, userId })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      await expect(sessions.forkSession({ ...KEY, sessionId: id })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
    expect(recorded.spans).toHaveLength(12);
    const values = new Set(recorded.spans.flatMap(({ attributes }) => Object.values(attributes)));
    expect(values).toEqual(new Set(['INVALID_INPUT', 'fork', 'get', 'list', 'shop']));
  });

  it('of a fork are linked to the last span of its source that did not fail', async () => {
    await sessions.createSession(KEY);
    const created = recorded.span('agent_sessions.create');
    await expect(sessions.createSession(KEY)).rejects.toThrow('exists already');
    await sessions.forkSession(KEY);
    expect(recorded.span('agent_sessions.fork').links).toMatchObject([{ context: created.spanContext() }]);
  });

  it('contain nothing that was said', async () => {
    const session = await sessions.createSession({ ...KEY, state: { card: SECRET } });
    await sessions.appendEvent({ session, event: SAID });
    await sessions
      .change(KEY, () => {
        throw new Error(SECRET);
      })
      .catch(() => undefined);
    expect(recorded.spans).toHaveLength(3);
    expect(recorded.spans.at(-1)?.attributes).toMatchObject({ 'error.type': 'INTERNAL' });
    for (const { name, attributes, status, links, events } of recorded.spans) {
      expect(JSON.stringify({ name, attributes, status, links, events })).not.toContain(SECRET);
    }
  });
});

function attributesOf(operation: string, sessionId: string): Record<string, unknown> {
  return {
    'agent_sessions.operation': operation,
    'agent_sessions.app.name': 'shop',
    'gen_ai.conversation.id': sessionId,
  };
}
