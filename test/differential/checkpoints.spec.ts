import fc from 'fast-check';
import { type EventInput, InMemorySessionStorage, SessionService } from '../../src/index.js';
import type { ReadRequest, SessionRecord, SessionStorage, StoredSession } from '../../src/storage.js';
import { CHECKPOINT_EVERY } from '../../src/sessions/domain/history/checkpoint.js';
import { seed } from '../support/random.js';
import { manualClock } from './clock.js';
import { TIMEOUT_MS, runsOr, searching } from './runs.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const SESSION = { appName: 'shop', userId: 'ann', id: 's' };

/** Keeps no checkpoint and finds no event by its group, so that everything is derived from the whole log. */
class ForgetfulStorage extends InMemorySessionStorage {
  override async saveCheckpoint(): Promise<void> {}

  override async read(request: ReadRequest): Promise<StoredSession | undefined> {
    return super.read({ ...request, find: undefined });
  }
}

interface Side {
  readonly storage: SessionStorage;
  readonly service: SessionService;
}

const numRuns = runsOr(3);
const logs = fc.record({
  numbers: fc.noShrink(
    fc.array(fc.noBias(fc.nat({ max: 999_999 })), { minLength: 300, maxLength: 1_100, size: 'max' }),
  ),
  /** How far back rewinds go at most. */
  reach: fc.constantFrom(5, 300, 1_100),
  keepHistory: fc.boolean(),
});

function eventOf(number: number, seq: number, reach: number): EventInput {
  const detail = Math.floor(number / 100);
  const stateDelta = { [`k${detail % 5}`]: detail, ...(detail % 9 === 0 && { [`user:u${detail % 2}`]: detail }) };
  const stateRemovals =
    detail % 4 === 0 ? [`k${(detail + 1) % 5}`, 'user:u0'].filter((key) => !(key in stateDelta)) : [];
  switch (seq === 1 ? 99 : number % 100) {
    case 0:
    case 1:
      return { author: 'system', actions: { rewind: { toSeq: Math.max(0, seq - 1 - (detail % reach)) } } };
    case 2:
    case 3: {
      const toSeq = Math.max(1, seq - 1 - (detail % 40));
      return {
        author: 'system',
        content: { parts: [{ text: 'In short' }] },
        actions: { compaction: { fromSeq: 1, toSeq } },
      };
    }
    default:
      return {
        author: detail % 3 ? 'agent' : 'user',
        invocationId: detail % 8 === 0 ? '' : `i${detail % 2 === 0 ? detail % 10 : Math.floor(seq / 4)}`,
        content: { parts: [{ text: 'x'.repeat(detail % 7) }] },
        actions: { stateDelta, stateRemovals },
      };
  }
}

describe('a log with checkpoints', () => {
  it(
    `has the same states, rewinds and forks as one without, ${numRuns} runs, SEED=${seed}`,
    async () => {
      await fc.assert(
        fc.asyncProperty(logs, async ({ numbers, reach, keepHistory }) => {
          const clock = manualClock();
          const sides = [new InMemorySessionStorage({ clock }), new ForgetfulStorage({ clock })].map((storage) => ({
            storage,
            service: new SessionService({ storage, clock, history: { keepHistory, maxEvents: keepHistory ? 0 : 400 } }),
          }));
          for (const side of sides) await fill(side, numbers, reach);
          const read = (checkpointAt: number) => sides[0]?.storage.read({ key: KEY, checkpointAt });
          const { firstSeq = 1, lastSeq = 0 } = (await read(0))?.record ?? {};
          if (keepHistory) expect((await read(lastSeq))?.checkpoint?.seq).toBe(lastSeq - (lastSeq % CHECKPOINT_EVERY));
          const places = numbers.slice(0, 6).map((number) => firstSeq - 1 + (number % (lastSeq - firstSeq + 2)));
          for (const place of places) {
            await compareAt(sides, place);
            await compareRewind(sides, `i${place % 10}`);
            await compareRewind(sides, `i${Math.floor(place / 4)}`);
          }
          for (const side of sides) await side.service.close();
        }),
        { ...searching, numRuns },
      );
    },
    TIMEOUT_MS,
  );
});

async function fill({ service }: Side, numbers: readonly number[], reach: number): Promise<void> {
  await service.createSession({ ...KEY, state: { k0: 'initial', kept: null } });
  let last = 0;
  for (const number of numbers) {
    const event = { ...eventOf(number, last + 1, reach), id: `e${last + 1}`, timestamp: 1e12 + last };
    const stored = await service.appendEvent({ session: SESSION, event }).catch(ignoreTrimmedTarget);
    last = stored?.seq ?? last;
    await service.whenIdle();
  }
}

/** A rewind to a place that is not kept any more. */
function ignoreTrimmedTarget(error: unknown): undefined {
  if (!(error instanceof Error) || !error.message.includes('must lie between')) throw error;
}

async function compareAt(sides: readonly Side[], seq: number): Promise<void> {
  const [state] = await both(sides, async ({ service }) => {
    const { shared: _shared, ...found } = await service.stateAt({ ...KEY, seq });
    return found;
  });
  await both(sides, async ({ service, storage }) => {
    const fork = await service.forkSession({ ...KEY, atSeq: seq, newSessionId: `fork-${seq}` });
    const copy = await storage.read({ key: { ...KEY, sessionId: fork.id }, window: {}, withState: true });
    await service.deleteSession({ ...KEY, sessionId: fork.id });
    expect(
      Object.fromEntries(Object.entries(fork.state.toRecord()).filter(([key]) => !key.startsWith('user:'))),
    ).toEqual(state?.state);
    return [copy?.events, copy?.state, copy && comparable(copy.record)];
  });
  await both(sides, async ({ service, storage }) => {
    await service.rewindSession({ ...KEY, toSeq: seq });
    await service.whenIdle();
    const read = await storage.read({ key: KEY, withState: true, withBase: true });
    return [read && comparable(read.record), read?.state, read?.baseState];
  });
}

/** If events between a summary's range and the log are trimmed, only a checkpoint knows that the summary does not cover them. */
function comparable({ marks, firstSeq, ...record }: SessionRecord): object {
  const isCoveredKnown = marks.viewFromSeq >= firstSeq - 1;
  return { ...record, firstSeq, marks: isCoveredKnown ? marks : { ...marks, covered: undefined }, incarnation: '' };
}

/** Rewinds to before an invocation, which may be refused. */
async function compareRewind(sides: readonly Side[], invocationId: string): Promise<void> {
  await both(sides, async ({ service }) => {
    const rewound = await service.rewindSession({ ...KEY, invocationId }).catch((error: unknown) => error);
    await service.whenIdle();
    if (rewound instanceof Error) return rewound.message;
    const { events } = await service.listEvents({ ...KEY, order: 'desc', limit: 1 });
    return events[0]?.actions;
  });
}

/** Both sides give the same. */
async function both<Result>(sides: readonly Side[], work: (side: Side) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (const side of sides) results.push(await work(side));
  expect(results[0]).toEqual(results[1]);
  return results;
}
