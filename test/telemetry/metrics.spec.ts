import { DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import { AgentSessions } from '../../src/agents/index.js';
import { SessionService } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { testStores } from '../support/stores.js';
import { RecordedTelemetry } from './recorded-telemetry.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'cart' };
const IDS = ['shop', 'ann', 'cart', 'said'];
const SAID = { id: 'said', author: 'user' };

/** Each reading of the clock is one second later, so that each operation takes one if no other runs. */
function ticking(): () => number {
  let ms = 0;
  return () => (ms += 1_000);
}

describe.each(testStores)('metrics of sessions in $name', ({ open }) => {
  let opened: OpenStorage;
  let sessions: SessionService;
  let recorded: RecordedTelemetry | undefined;

  beforeEach(async () => {
    opened = await open({});
    sessions = new SessionService({ storage: opened.storage });
  });

  afterEach(async () => {
    await recorded?.close();
    await sessions.finish();
    await opened.destroy();
  });

  it('are how long each operation took by its outcome, and how many events were stored', async () => {
    recorded = new RecordedTelemetry({ now: ticking() });
    const session = await sessions.createSession(KEY);
    await expect(sessions.createSession(KEY)).rejects.toThrow('exists already');
    await sessions.appendEvents({ session, events: [SAID, { author: 'agent' }] });
    await sessions.appendEvent({ session, event: SAID });
    const metrics = await recorded.metrics();
    expect(metrics.map(inShort)).toEqual([
      [
        'agent_sessions.operation.duration',
        's',
        [
          [{ 'agent_sessions.operation': 'create' }, 1, 1],
          [{ 'agent_sessions.operation': 'create', 'error.type': 'SESSION_EXISTS' }, 1, 1],
          [{ 'agent_sessions.operation': 'append' }, 2, 2],
        ],
      ],
      ['agent_sessions.events.stored', '{event}', [[{}, 2]]],
    ]);
    for (const id of IDS) expect(JSON.stringify(metrics)).not.toContain(`"${id}"`);
  });

  it('of agents have the name of the newest conventions if the app asks for them', async () => {
    recorded = new RecordedTelemetry({ optIn: 'http, gen_ai_latest_experimental' });
    const agents = new AgentSessions({ sessions });
    await agents.run({ ...KEY, agentName: 'helper', newMessage: 'Hello' }, async function* () {
      yield SAID;
    }).result;
    await agents.close();
    const duration = (await recorded.metrics()).find(({ descriptor }) => descriptor.name.startsWith('gen_ai.'));
    expect(duration?.descriptor).toMatchObject({ name: 'gen_ai.invoke_agent.duration', unit: 's' });
    expect(duration?.dataPoints).toMatchObject([
      { attributes: { 'gen_ai.agent.name': 'helper' }, value: { count: 1 } },
    ]);
  });
});

function inShort({ descriptor, dataPointType, dataPoints }: MetricData): unknown[] {
  const points =
    dataPointType === DataPointType.HISTOGRAM
      ? dataPoints.map(({ attributes, value }) => [attributes, value.count, value.sum])
      : dataPoints.map(({ attributes, value }) => [attributes, value]);
  return [descriptor.name, descriptor.unit, points];
}
