import { type EventInput, type GetSessionConfig, SessionService, type SessionServiceOptions } from '../../src/index.js';
import { CountingStorage, type LogReads } from '../support/counting-storage.js';
import { type LongLog, type LongLogStore, longLogStores } from './long-logs.js';
import { KEY, SESSION } from './operations.js';

const LENGTH = 10_000;
const NEWEST_20 = { maxEvents: 20 };

const userSays: EventInput = { author: 'user', content: { parts: [{ text: 'Hello' }] } };
const agentSays: EventInput = { author: 'agent', content: { parts: [{ text: 'Hello' }] } };
const agentCalls: EventInput = {
  author: 'agent',
  content: { parts: [{ functionCall: { id: 'c-1', name: 'look', args: {} } }] },
};
const toolAnswers: EventInput = {
  author: 'agent',
  content: { parts: [{ functionResponse: { id: 'c-1', name: 'look', response: {} } }] },
};

interface Scenario {
  readonly name: string;
  eventAt(seq: number): EventInput;
  readonly rewindTo?: number;
  readonly history: SessionServiceOptions['history'];
  readonly config?: GetSessionConfig;
  readonly reads: LogReads;
  /** The first and the last event of the view, and its length. */
  readonly view: readonly [first: number, last: number, length: number];
}

/** The user writes at `asked` only. A tool is called at `called` and responds at `answered`. */
function conversation(asked: number, called = 0, answered = 0): (seq: number) => EventInput {
  return (seq) => {
    if (seq === called) return agentCalls;
    if (seq === answered) return toolAnswers;
    return seq === asked ? userSays : agentSays;
  };
}

const turns = (seq: number): EventInput => (seq % 2 === 1 ? userSays : agentSays);

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'turns of user and agent',
    eventAt: turns,
    history: NEWEST_20,
    reads: { ranges: 1, anchors: 0, events: 20 },
    view: [9_981, 10_000, 20],
  },
  {
    name: 'the same, limited on read only',
    eventAt: turns,
    history: { numRecentEvents: 20 },
    reads: { ranges: 1, anchors: 0, events: 20 },
    view: [9_981, 10_000, 20],
  },
  {
    name: 'the same, by age as well',
    eventAt: turns,
    history: { maxEvents: 20, eventTtlSeconds: 3_600 },
    reads: { ranges: 1, anchors: 0, events: 20 },
    view: [9_981, 10_000, 20],
  },
  {
    name: 'no filter, narrowed to the newest 20',
    eventAt: turns,
    history: {},
    config: { numRecentEvents: 20 },
    reads: { ranges: 1, anchors: 0, events: 20 },
    view: [9_981, 10_000, 20],
  },
  {
    name: 'the newest 3,000 rewound',
    eventAt: turns,
    rewindTo: 7_000,
    history: NEWEST_20,
    reads: { ranges: 2, anchors: 0, events: 60 },
    view: [6_981, 7_000, 20],
  },
  {
    name: 'the newest 3,000 rewound, by age as well',
    eventAt: turns,
    rewindTo: 7_000,
    history: { maxEvents: 20, eventTtlSeconds: 3_600 },
    reads: { ranges: 2, anchors: 0, events: 60 },
    view: [6_981, 7_000, 20],
  },
  {
    name: 'the newest 3,000 rewound, no filter, narrowed to the newest 20',
    eventAt: turns,
    rewindTo: 7_000,
    history: {},
    config: { numRecentEvents: 20 },
    reads: { ranges: 2, anchors: 0, events: 40 },
    view: [6_981, 7_000, 20],
  },
  {
    name: 'the only anchor 9,000 events back',
    eventAt: conversation(1_000),
    history: NEWEST_20,
    reads: { ranges: 1, anchors: 1, events: 21 },
    view: [1_000, 10_000, 21],
  },
  {
    name: 'no anchor at all',
    eventAt: conversation(0),
    history: NEWEST_20,
    reads: { ranges: 1, anchors: 1, events: 20 },
    view: [9_981, 10_000, 20],
  },
  {
    name: 'a tool response at the cut, its call 15 events before',
    eventAt: conversation(9_960, 9_966, 9_981),
    history: NEWEST_20,
    reads: { ranges: 2, anchors: 1, events: 41 },
    view: [9_960, 10_000, 36],
  },
  {
    name: 'a tool response at the cut, its call out of reach, the only anchor 9,000 events back',
    eventAt: conversation(1_000, 9_900, 9_981),
    history: NEWEST_20,
    reads: { ranges: 2, anchors: 1, events: 41 },
    view: [1_000, 10_000, 20],
  },
  {
    name: 'the newest 3,000 rewound, a tool at the cut, and the only anchor far back',
    eventAt: conversation(1_000, 6_966, 6_981),
    rewindTo: 7_000,
    history: NEWEST_20,
    reads: { ranges: 2, anchors: 1, events: 61 },
    view: [1_000, 7_000, 36],
  },
];

interface CountedLog {
  readonly log: LongLog;
  readonly counting: CountingStorage;
}

/** A log of these events, rewound if they are; scenarios that only read it share it. */
async function openLog(store: LongLogStore, { eventAt, rewindTo }: Scenario): Promise<CountedLog> {
  const log = await store.open(LENGTH, eventAt);
  const counting = new CountingStorage(log.storage);
  if (rewindTo !== undefined) {
    const event: EventInput = { author: 'user', actions: { rewind: { toSeq: rewindTo } } };
    await new SessionService({ storage: counting.storage }).appendEvent({ session: SESSION, event });
  }
  return { log, counting };
}

describe.each(longLogStores)(`a view of 20 in ${LENGTH} events in $name`, (store) => {
  const opened = new Map<number, Promise<CountedLog>>();
  const logOf = (scenario: Scenario): Promise<CountedLog> => {
    const place = SCENARIOS.findIndex(
      ({ eventAt, rewindTo }) => eventAt === scenario.eventAt && rewindTo === scenario.rewindTo,
    );
    const log = opened.get(place) ?? openLog(store, scenario);
    opened.set(place, log);
    return log;
  };
  afterAll(async () => {
    for (const { log } of await Promise.all(opened.values())) await log.destroy();
  });

  it.each(SCENARIOS)('$name', async (scenario) => {
    const { history, config, reads, view } = scenario;
    const { log, counting } = await logOf(scenario);
    const sessions = new SessionService({ storage: counting.storage, history });
    counting.taken();
    log.rowsTaken();
    const session = await sessions.getSession({ ...KEY, config });

    expect(counting.taken()).toEqual(reads);
    const seqs = session?.events.map(({ seq }) => seq) ?? [];
    expect([seqs[0], seqs.at(-1), seqs.length]).toEqual(view);
    // Each read also returns the row of the session.
    expect(log.rowsTaken()).toBeLessThanOrEqual(reads.events + reads.ranges + reads.anchors);
  });
});
