import {
  MAX_PARTIALS_PER_TURN,
  type PartialOutcome,
  type PartialWrite,
} from '../../sessions/domain/stored/partial-event.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  type StorageFixture,
  createTestCommit,
  creation,
  lives,
  readPartials,
  readSession,
  sessionWithEvents,
  together,
} from './support.js';

const PER_TURN = MAX_PARTIALS_PER_TURN + 1;
const TTL_MS = 60_000;
const OTHER = { ...KEY, sessionId: 's-2' };

/** What one writer saves in its turn. */
class Turn {
  readonly #shared: Pick<PartialWrite, 'key' | 'incarnation' | 'turnToken'>;

  private constructor(
    private readonly storage: SessionStorage,
    target: Pick<PartialWrite, 'key' | 'incarnation'>,
    readonly token: string,
  ) {
    this.#shared = { ...target, turnToken: token };
  }

  /** Begins a turn of the session. */
  static async begin(storage: SessionStorage, token: string, key = KEY): Promise<Turn> {
    const { incarnation } = (await readSession(storage, key)).record;
    const begin = { action: 'begin', key, token, holder: 'one', requestId: token, ttlMs: 10_000 } as const;
    if ((await storage.turn(begin)).kind !== 'changed') throw new Error('The turn is held');
    return new Turn(storage, { key, incarnation }, token);
  }

  write(index: number, changes: Partial<PartialWrite> = {}): PartialWrite {
    return { ...this.#shared, index, messageId: 'm1', content: `"${index}"`, ttlMs: TTL_MS, ...changes };
  }

  save(index: number, changes: Partial<PartialWrite> = {}): Promise<PartialOutcome> {
    return this.storage.savePartial(this.write(index, changes));
  }

  async end(): Promise<void> {
    await this.storage.turn({ action: 'end', key: this.#shared.key, token: this.token });
  }
}

function saved(storage: SessionStorage, writes: readonly PartialWrite[]): Promise<readonly PartialOutcome[]> {
  return Promise.all(writes.map((write) => storage.savePartial(write)));
}

/** Number, seq and content of the partial events of {@link KEY}. */
async function left(storage: SessionStorage, after = 0): Promise<readonly (readonly [number, number, string])[]> {
  const { incarnation } = (await readSession(storage)).record;
  const partials = await readPartials(storage, incarnation, after);
  return (partials ?? []).map(({ number, afterSeq, content }) => [number, afterSeq, content]);
}

export const partials = topic<StorageFixture>('partial events', (test) => {
  test('those of a turn are read in order, with their places in the log', async ({ storage, clock }) => {
    await sessionWithEvents(storage, 2);
    const turn = await Turn.begin(storage, 'one');
    const content = '{"text":"ä\\u0000 \'\n"}';
    const expected = { number: PER_TURN + 1, afterSeq: 2, messageId: 'm1', content, expiresAt: clock.now() + TTL_MS };
    expect(await turn.save(1, { content })).toEqual({ kind: 'saved', partial: expected });
    const { incarnation } = (await readSession(storage)).record;
    expect(await readPartials(storage, incarnation)).toEqual([expected]);
    await storage.append(createTestCommit('e3'));
    for (let index = 2; index <= 12; index++) await turn.save(index);
    expect((await left(storage)).map(([number, seq]) => [number - PER_TURN, seq])).toEqual([
      [1, 2],
      ...Array.from({ length: 11 }, (_, index) => [index + 2, 3]),
    ]);
    expect(await left(storage, PER_TURN + 11)).toEqual([[PER_TURN + 12, 3, '"12"']]);
    expect(await left(storage, PER_TURN + 12)).toEqual([]);
  });

  test('change neither the record nor what a read returns', async ({ storage, clock }) => {
    await storage.create(creation({ expiry: lives({ session: 100 }) }));
    const turn = await Turn.begin(storage, 'one');
    const before = await readSession(storage);
    clock.advance(10);
    await turn.save(1);
    expect(await readSession(storage)).toEqual({ ...before, now: clock.now() });
  });

  test('a write with the same number replaces the one before', async ({ storage }) => {
    await sessionWithEvents(storage, 1);
    const turn = await Turn.begin(storage, 'one');
    await turn.save(1);
    await turn.save(2, { content: '"first"' });
    expect(await turn.save(2, { content: '"second"' })).toMatchObject({ kind: 'saved' });
    expect(await left(storage)).toEqual([
      [PER_TURN + 1, 1, '"1"'],
      [PER_TURN + 2, 1, '"second"'],
    ]);
  });

  test('a turn that is over saves nothing, and the next one has higher numbers', async ({ storage, clock }) => {
    await sessionWithEvents(storage, 1);
    const first = await Turn.begin(storage, 'one');
    await first.save(1);
    clock.advance(10_000);
    expect(await first.save(2)).toEqual({ kind: 'lost' });
    const second = await Turn.begin(storage, 'two');
    expect(await first.save(2)).toEqual({ kind: 'lost' });
    await second.save(1);
    expect(await left(storage)).toEqual([
      [PER_TURN + 1, 1, '"1"'],
      [2 * PER_TURN + 1, 1, '"1"'],
    ]);
    await second.end();
    expect(await second.save(2)).toEqual({ kind: 'lost' });
  });

  test('are saved for several sessions at once, each as its turn allows', async ({ storage }) => {
    await sessionWithEvents(storage, 1);
    await storage.create(creation({ key: OTHER }));
    const turn = await Turn.begin(storage, 'one');
    const other = await Turn.begin(storage, 'two', OTHER);
    const writes = [other.write(1), turn.write(1), other.write(2, { turnToken: 'three' }), turn.write(2)];
    const outcomes = await saved(storage, writes);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['saved', 'saved', 'lost', 'saved']);
    expect(await left(storage)).toHaveLength(2);
  });

  test('are saved beside appends to the same session and to others', async ({ storage }) => {
    await sessionWithEvents(storage, 1);
    await storage.create(creation({ key: OTHER }));
    const turn = await Turn.begin(storage, 'one');
    const other = await Turn.begin(storage, 'two', OTHER);
    const third = { ...KEY, sessionId: 's-3' };
    await storage.create(creation({ key: third }));
    for (const round of [1, 2]) {
      const outcomes = await Promise.all([
        turn.save(2 * round),
        storage.append(createTestCommit(`t${round}`, { key: third })),
        other.save(round),
        storage.append(createTestCommit(`e${round + 1}`)),
        turn.save(2 * round + 1),
      ]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['saved', 'appended', 'saved', 'appended', 'saved']);
    }
    expect((await left(storage)).map(([number]) => number - PER_TURN)).toEqual([2, 3, 4, 5]);
    const ends = await Promise.all([KEY, third].map(async (key) => (await readSession(storage, key)).record.lastSeq));
    expect(ends).toEqual([3, 2]);
  });

  test('are saved for 60 sessions at once', async ({ storage }) => {
    const keys = Array.from({ length: 60 }, (_, index) => ({ ...KEY, sessionId: `s-${index}` }));
    const turns = await together(keys.length, async (index) => {
      const key = keys[index] ?? KEY;
      await storage.create(creation({ key }));
      return Turn.begin(storage, 'one', key);
    });
    const outcomes = await saved(
      storage,
      turns.map((turn, index) => turn.write(1, { content: `${index}` })),
    );
    const contents = outcomes.map((outcome) => outcome.kind === 'saved' && outcome.partial.content);
    expect(contents).toEqual(turns.map((_, index) => `${index}`));
  });

  test('a commit removes those of the messages that it ends, or all', async ({ storage }) => {
    await sessionWithEvents(storage, 1);
    const turn = await Turn.begin(storage, 'one');
    for (const [place, messageId] of ['m1', 'm2', 'm1', 'm3'].entries()) await turn.save(place + 1, { messageId });
    const preconditions = { turnToken: turn.token };
    await storage.append(createTestCommit('e2', { preconditions }));
    expect(await left(storage)).toHaveLength(4);
    await storage.append(createTestCommit('e3', { preconditions, endsPartials: [] }));
    await storage.append(createTestCommit('e3', { preconditions: { turnToken: 'lost' }, endsPartials: 'all' }));
    await storage.append(createTestCommit('e4', { preconditions: { turnToken: 'lost' }, endsPartials: 'all' }));
    expect(await left(storage)).toHaveLength(4);
    await storage.append(createTestCommit('e4', { preconditions, endsPartials: ['m1', 'm3', 'none'] }));
    expect(await left(storage)).toEqual([[PER_TURN + 2, 1, '"2"']]);
    await turn.save(5, { messageId: 'm1' });
    expect(await left(storage, PER_TURN + 2)).toEqual([[PER_TURN + 5, 4, '"5"']]);
    await storage.append(createTestCommit('e5', { preconditions, endsPartials: 'all', endsTurn: true }));
    expect(await left(storage)).toEqual([]);
  });

  test('are gone when their time is over', async ({ storage, clock }) => {
    await sessionWithEvents(storage, 1);
    const turn = await Turn.begin(storage, 'one');
    await turn.save(1, { ttlMs: 1_000 });
    await turn.save(2);
    clock.advance(1_000);
    expect(await left(storage)).toEqual([[PER_TURN + 2, 1, '"2"']]);
    await storage.purgeExpired(100);
    expect(await left(storage)).toEqual([[PER_TURN + 2, 1, '"2"']]);
    clock.advance(TTL_MS);
    expect(await left(storage)).toEqual([]);
    await storage.purgeExpired(100);
    expect(await left(storage)).toEqual([]);
  });

  test('are removed with their session, if it is deleted or expires', async ({ storage, clock, raw }) => {
    const day = 86_400_000;
    await storage.create(creation({ expiry: lives({ session: 10 }) }));
    const expired = await Turn.begin(storage, 'one');
    const write = expired.write(1, { content: 'canary', ttlMs: day });
    await storage.savePartial(write);
    clock.advanceSeconds(10);
    expect(await readPartials(storage, write.incarnation)).toBeUndefined();
    await storage.purgeExpired(10);
    expect((await raw()).text).not.toContain('canary');

    await storage.create(creation({ expiry: lives({ session: 10 }) }));
    await (await Turn.begin(storage, 'two')).save(1, { content: 'canary', ttlMs: day });
    clock.advanceSeconds(10);
    await storage.create(creation());
    expect((await raw()).text).not.toContain('canary');
    expect(await readPartials(storage, write.incarnation)).toBeUndefined();

    const deleted = await Turn.begin(storage, 'three');
    await deleted.save(1, { content: 'canary', ttlMs: day });
    await storage.delete(KEY);
    expect((await raw()).text).not.toContain('canary');
    await storage.create(creation());
    expect(await left(storage)).toEqual([]);
    expect(await deleted.save(2)).toEqual({ kind: 'lost' });
    expect(await left(storage)).toEqual([]);
  });
});
