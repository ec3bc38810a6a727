import { RUN_POLICIES, type RunPolicy, isInterrupting } from '../../src/agents/turn/run-policy.js';
import { AgentSessions, type RunHandler } from '../../src/agents/index.js';
import { type EventInput, SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { HeldHandler, call, inShort, partial, response, text } from '../agents/support/handlers.js';
import { WEATHER } from '../support/processes/agent-process.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { openDescribed } from '../support/processes/store-description.js';
import { WorkerProcess } from '../support/processes/worker-process.js';
import { until } from '../support/until.js';

/** When a message comes while a turn runs. */
interface Moment {
  readonly name: string;
  /** What the turn has said. */
  readonly before: readonly EventInput[];
  /** What it says if it goes on. */
  readonly after: readonly EventInput[];
  /** How it is closed if it does not. */
  readonly closed: readonly string[];
}

const MOMENTS: readonly Moment[] = [
  { name: 'before the first event', before: [], after: [text('done')], closed: ['agent - INTERRUPTED'] },
  {
    name: 'between call and response',
    before: [call('c1')],
    after: [response('c1'), text('done')],
    closed: ['agent !c1', 'agent - INTERRUPTED'],
  },
  {
    name: 'in mid-stream',
    before: [partial('It is')],
    after: [text('It is done')],
    closed: ['agent It is - INTERRUPTED'],
  },
  { name: 'after a final event', before: [text('done')], after: [text('more')], closed: ['agent - INTERRUPTED'] },
];

/** How the running turn and the message of the other process end. */
const ENDS: Readonly<Record<RunPolicy, string>> = {
  reject: 'completed, TURN_HELD',
  enqueue: 'completed, completed',
  interrupt: 'interrupted, completed',
  rollback: 'interrupted, completed',
  merge: 'completed, completed',
  debounce: 'completed, completed',
};

const byAgent = (events: readonly EventInput[]): string[] =>
  inShort(events.filter((event) => event.partial !== true).map((event) => ({ author: 'agent', ...event })));

/** What the other process answers. */
const ANSWER = ['user second', ...byAgent(WEATHER)];

/** What is said when a message of this policy came at this moment. */
function expectedLog(policy: RunPolicy, { before, after, closed }: Moment): readonly string[] {
  const first = ['user first', ...byAgent(before)];
  const rest = byAgent(after);
  const logs: Readonly<Record<RunPolicy, readonly string[]>> = {
    reject: [...first, ...rest],
    enqueue: [...first, ...rest, ...ANSWER],
    debounce: [...first, ...rest, ...ANSWER],
    interrupt: [...first, ...closed, ...ANSWER],
    rollback: ANSWER,
    merge: [...first, ...rest.slice(0, -1), 'user second', ...rest.slice(-1)],
  };
  return logs[policy];
}

interface Case {
  readonly policy: RunPolicy;
  readonly moment: Moment;
  /** Also the session. */
  readonly name: string;
}

const CASES: readonly Case[] = RUN_POLICIES.flatMap((policy) =>
  MOMENTS.map((moment) => ({ policy, moment, name: `${policy} ${moment.name}` })),
);

const keyOf = (name: string) => ({ appName: 'shop', userId: 'ann', sessionId: name });
const byName = <Value>(values: readonly Value[]): Record<string, Value> =>
  Object.fromEntries(CASES.map(({ name }, index) => [name, values[index] as Value]));

/** A turn that is held at the moment. `merge` takes the message before the last event. */
function held(policy: RunPolicy, { before, after }: Moment): HeldHandler & { readonly whole: RunHandler } {
  const handler = new HeldHandler(before, after.slice(0, -1));
  const whole: RunHandler = async function* (context) {
    yield* handler.handler(context) as AsyncGenerator<EventInput>;
    if (policy === 'merge') await until(async () => (await context.takeMessages()).length > 0);
    yield* after.slice(-1);
  };
  return Object.assign(handler, { whole });
}

describeSharedStores('a message of another process on a $name store', ({ create }) => {
  let store: SharedStore;
  let storage: SessionStorage;
  let sessions: SessionService;
  let agents: AgentSessions;

  beforeEach(async () => {
    store = await create();
    storage = await openDescribed(store.description);
    sessions = new SessionService({ storage, watchPollMs: 50 });
    agents = new AgentSessions({ sessions, pollMs: 50, graceMs: 5_000 });
  });

  afterEach(async () => {
    await agents.close();
    await sessions.close();
    await store.destroy();
  });

  const viewOf = async (name: string) => (await sessions.getSession(keyOf(name)))?.events ?? [];
  const logOf = async (name: string) => (await sessions.listEvents(keyOf(name))).events;

  it('does what its policy says, at every moment of a turn', async () => {
    const turns = CASES.map(({ policy, moment }) => held(policy, moment));
    const worker = await WorkerProcess.start();
    try {
      await worker.run('open', { store: store.description });
      const running = turns.map(
        ({ whole }, index) => agents.run({ ...keyOf(CASES[index]?.name ?? ''), newMessage: 'first' }, whole).result,
      );
      await Promise.all(turns.map(({ started }) => started));
      const requestOf = ({ policy, name }: Case) => ({ ...keyOf(name), newMessage: 'second', policy, quietMs: 1 });
      const send = (cases: readonly Case[]) =>
        worker.run('runAgents', { runs: cases.map((each) => ({ request: requestOf(each) })) });
      // `reject` comes first in CASES. It leaves nothing for which the turn could wait.
      const refused = await send(CASES.filter(({ policy }) => policy === 'reject'));
      const answers = send(CASES.filter(({ policy }) => policy !== 'reject'));
      await Promise.all(
        CASES.map(async ({ policy, name }, index) => {
          const hasCome = async () => (await logOf(name)).some(({ actions }) => actions['queued']);
          await until(async () => policy === 'reject' || hasCome());
          // The others are interrupted.
          if (!isInterrupting(policy)) turns[index]?.release();
        }),
      );
      const outcomes = [...refused, ...(await answers)];
      const results = await Promise.all(running);
      const ends = results.map(({ status }, index) => `${status}, ${outcomes[index]?.status ?? outcomes[index]?.code}`);
      expect(byName(ends)).toEqual(byName(CASES.map(({ policy }) => ENDS[policy])));
      const found = await Promise.all(
        CASES.map(async ({ policy, name }) => {
          const events = policy === 'rollback' ? await viewOf(name) : await logOf(name);
          return inShort(events).filter((event) => !event.startsWith('system'));
        }),
      );
      expect(byName(found)).toEqual(byName(CASES.map(({ policy, moment }) => expectedLog(policy, moment))));
    } finally {
      await worker.stop();
    }
  });
});
