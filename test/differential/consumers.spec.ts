import fc from 'fast-check';
import { SessionService } from '../../src/index.js';
import { seed } from '../support/random.js';
import { storesAboveThePort } from '../support/stores.js';
import { manualClock } from './clock.js';
import {
  CONSUMERS,
  type ConsumerOperation,
  KEYS,
  SESSION_SECONDS,
  consumerOperations,
  fates,
} from './consumer-operations.js';
import { ConsumerRounds, nameOf, pendingOf, problemOf } from './consumer-rounds.js';
import type { Fate, ModelConsumer } from './model/model-consumer.js';
import { outcomeOf } from './observations.js';
import { TIMEOUT_MS, consumersOf, searching } from './runs.js';

/** The first event that a consumer wants always ends the process. */
const CRASH_AFTER_OLD_EVENTS: [Fate[], ConsumerOperation[]] = [
  [{ kind: 'crashes', times: Infinity }],
  [
    { kind: 'create', session: 0 },
    { kind: 'append', session: 0, count: 1 },
    { kind: 'register', consumer: 0, apps: undefined, from: 'now', maxTries: 2 },
    { kind: 'append', session: 0, count: 1 },
  ],
];

describe.each(storesAboveThePort)('durable consumers on $name', (store) => {
  const { numRuns, length } = consumersOf(store.name);

  it(
    `get what the model of their guarantees says, ${numRuns} × ${length} operations, SEED=${seed}`,
    async () => {
      const behaveLikeModel = fc.asyncProperty(fates, consumerOperations(length), async (fated, sequence) => {
        const clock = manualClock();
        const opened = await store.open({ clock });
        try {
          const ttl = { enabled: true, sessionSeconds: SESSION_SECONDS };
          const service = new SessionService({ storage: opened.storage, clock, ttl });
          const rounds = new ConsumerRounds(service, opened.storage, clock, fated);
          for (const next of sequence) await perform(rounds, next, clock);
          await drain(rounds);
        } finally {
          await opened.destroy();
        }
      });
      await fc.assert(behaveLikeModel, { ...searching, numRuns, examples: [CRASH_AFTER_OLD_EVENTS] });
    },
    TIMEOUT_MS,
  );
});

async function perform(rounds: ConsumerRounds, operation: ConsumerOperation, clock: { time: number }): Promise<void> {
  switch (operation.kind) {
    case 'register':
      return rounds.register(operation);
    case 'remove':
      return rounds.remove(operation.consumer);
    case 'dispatch':
      return rounds.dispatch();
    case 'wait':
      clock.time += operation.ms;
      return;
    case 'look':
      return look(rounds);
    case 'drain':
      return drain(rounds);
    case 'work':
    case 'resolve': {
      const model = rounds.consumers.get(CONSUMERS[operation.consumer] ?? '');
      if (!model) return;
      if (operation.kind === 'resolve') return rounds.resolve(model, operation.letter, operation.how);
      await rounds.work(model, operation.limit, operation.stopAfter);
      return;
    }
    default:
      await outcomeOf(() => write(rounds, operation));
  }
}

type Write = Extract<ConsumerOperation, { kind: 'create' | 'append' | 'delete' | 'rewind' | 'fork' | 'purge' }>;

/** May be refused: then it changes nothing. */
async function write({ service }: ConsumerRounds, operation: Write): Promise<unknown> {
  if (operation.kind === 'purge') return service.purgeExpired();
  const key = KEYS[operation.session] ?? UNKNOWN;
  switch (operation.kind) {
    case 'create':
      return service.createSession(key);
    case 'delete':
      return service.deleteSession(key);
    case 'append': {
      const events = Array.from({ length: operation.count }, () => ({ author: 'agent' }));
      return service.appendEvents({ session: { ...key, id: key.sessionId }, events });
    }
    default: {
      const { version } = (await service.getSession(key)) ?? { version: 0 };
      const seq = Math.max(0, version - operation.back);
      if (operation.kind === 'rewind') return service.rewindSession({ ...key, toSeq: seq });
      const { sessionId: newSessionId = '' } = KEYS[operation.to] ?? {};
      return service.forkSession({ ...key, atSeq: seq, newSessionId });
    }
  }
}

const UNKNOWN = { appName: 'none', userId: 'none', sessionId: 'none' };

/** At any time: no backlog is hidden, and each dead letter has failed often enough. */
async function look(rounds: ConsumerRounds): Promise<void> {
  const sessions = await rounds.sessions();
  const filling = (await rounds.service.consumers.list()).filter((consumer) => consumer.isFilling);
  for (const [name, model] of rounds.consumers) {
    const real = (await rounds.letters(model)).map(nameOf);
    const dead = deadOf(model, sessions);
    expect(dead).toEqual(expect.arrayContaining(real));
    const lag = await rounds.service.consumers.lag(name);
    expect(lag?.deadLetters).toBe(real.length);
    if (filling.some((consumer) => consumer.name === name)) continue;
    const counted = (lag?.sessions ?? 0) + (lag?.undispatched ?? 0);
    expect(counted).toBeGreaterThanOrEqual(pendingOf(model, sessions).length);
  }
}

/** Afterwards each consumer has got everything. */
async function drain(rounds: ConsumerRounds): Promise<void> {
  await rounds.drain();
  const sessions = await rounds.sessions();
  for (const [name, model] of rounds.consumers) {
    expect(pendingOf(model, sessions)).toEqual([]);
    const letters = await rounds.letters(model);
    expect(letters.map(nameOf)).toEqual(deadOf(model, sessions));
    const { maxTries } = model.options;
    for (const letter of letters) {
      expect(letter.tries).toBe(maxTries);
      const thrown = problemOf({ seq: letter.seq, attempt: maxTries });
      expect([thrown, 'The process ended, or lost the session, while it handled the event.']).toContain(letter.problem);
    }
    const idle = { sessions: 0, undispatched: 0, oldestWaitMs: 0, deadLetters: letters.length, isFilling: false };
    expect(await rounds.service.consumers.lag(name)).toEqual(idle);
  }
}

function deadOf(model: ModelConsumer, sessions: Awaited<ReturnType<ConsumerRounds['sessions']>>): string[] {
  const wanted = sessions.filter(({ appName }) => model.wants(appName));
  return wanted
    .flatMap((session) => model.dead(session.incarnation, session.lastSeq).map((seq) => nameOf({ ...session, seq })))
    .toSorted((a, b) => a.localeCompare(b));
}
