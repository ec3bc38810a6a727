import type { WorkEntry, WorkProgress } from '../../sessions/domain/background/consumer-work.js';
import { topic } from '../contract-runner.js';
import { claimed, dispatchTo, theClaimed } from './consumer-support.js';
import { KEY, type StorageFixture, createTestCommit, creation, sessionWithEvents } from './support.js';

const MAIL = 'mail';

/** A session with so many events, dispatched to one consumer. */
async function dispatched({ storage }: StorageFixture, events: number): Promise<void> {
  await storage.consumers.register(MAIL, '');
  await sessionWithEvents(storage, events);
  await dispatchTo(storage, [MAIL]);
}

function upTo(seq: number, changes: Partial<WorkProgress> = {}): WorkProgress {
  return { seq, tries: 0, goesOn: true, dueInMs: 1_000, ...changes };
}

export const consumerWork = topic<StorageFixture>('work of consumers', (test) => {
  test('claimed work is hidden from others until its claim is over', async (fixture) => {
    const { storage, clock } = fixture;
    await dispatched(fixture, 3);
    const entry = await theClaimed(storage, MAIL);
    clock.advance(999);
    expect(await claimed(storage, MAIL, 'two')).toEqual([]);
    expect(await storage.consumers.note(entry, upTo(1))).toEqual({ kind: 'left', upTo: 3 });
    clock.advance(999);
    expect(await claimed(storage, MAIL, 'two')).toEqual([]);
    clock.advance(1);
    // Its worker may have crashed while it handled the next event.
    expect(await theClaimed(storage, MAIL, 'two')).toEqual({ ...entry, claim: 'suspect:two', seq: 1 });
  });

  test('work whose worker ended twice is handled alone, and only what was begun alone has failed', async (fixture) => {
    const { storage, clock } = fixture;
    await dispatched(fixture, 3);
    const next = async (id: string): Promise<WorkEntry> => {
      clock.advance(1_000);
      return theClaimed(storage, MAIL, id);
    };
    const entry = await next('one');
    expect(await next('two')).toEqual({ ...entry, claim: 'suspect:two' });
    expect(await next('three')).toEqual({ ...entry, claim: 'alone:three' });
    const begun = await next('four');
    expect(begun).toEqual({ ...entry, claim: 'alone:four' });
    expect(await storage.consumers.note(begun, upTo(0, { begins: true }))).toEqual({ kind: 'left', upTo: 3 });
    expect(await storage.consumers.note(begun, upTo(1))).toEqual({ kind: 'lost' });
    expect(await storage.consumers.note({ ...begun, claim: 'begun:four' }, upTo(1))).toEqual({ kind: 'left', upTo: 3 });
    const failed = { ...entry, seq: 1, tries: 1 };
    expect(await next('five')).toEqual({ ...failed, claim: 'alone:five' });
    expect(await next('six')).toEqual({ ...failed, claim: 'alone:six' });
  });

  test('work that is given back stays suspect, and loses no try', async (fixture) => {
    const { storage, clock } = fixture;
    await dispatched(fixture, 3);
    const entry = await theClaimed(storage, MAIL);
    for (const [care, begins] of [
      ['suspect', false],
      ['alone', false],
      ['alone', true],
    ] as const) {
      clock.advance(1_000);
      let taken = await theClaimed(storage, MAIL, 'crashed');
      expect(taken.claim).toBe(`${care}:crashed`);
      if (begins) {
        await storage.consumers.note(taken, upTo(0, { begins }));
        taken = { ...taken, claim: 'begun:crashed' };
      }
      const back = upTo(0, { goesOn: false, isUntried: true, dueInMs: 0 });
      expect(await storage.consumers.note(taken, back)).toEqual({ kind: 'left', upTo: 3 });
      expect(await theClaimed(storage, MAIL, 'again')).toEqual({ ...entry, claim: `${care}:again` });
    }
    clock.advance(1_000);
    const tried = await theClaimed(storage, MAIL, 'tried');
    await storage.consumers.note(tried, upTo(1, { goesOn: false, dueInMs: 0 }));
    expect(await theClaimed(storage, MAIL)).toEqual({ ...entry, seq: 1 });
  });

  test('a worker whose claim was taken over cannot move the position', async (fixture) => {
    const { storage, clock } = fixture;
    await dispatched(fixture, 3);
    const old = await theClaimed(storage, MAIL);
    clock.advance(1_000);
    const entry = await theClaimed(storage, MAIL, 'two');
    expect(await storage.consumers.note(entry, upTo(2))).toEqual({ kind: 'left', upTo: 3 });
    expect(await storage.consumers.note(old, upTo(1))).toEqual({ kind: 'lost' });
    expect(await storage.consumers.note(old, upTo(3))).toEqual({ kind: 'lost' });
    clock.advance(1_000);
    expect(await theClaimed(storage, MAIL, 'three')).toMatchObject({ seq: 2, upTo: 3 });
  });

  test('released work is due after a pause, and keeps tries and problem', async (fixture) => {
    const { storage, clock } = fixture;
    await dispatched(fixture, 3);
    const entry = await theClaimed(storage, MAIL);
    const problem = 'No "mail"\nserver é 😀';
    await storage.consumers.note(entry, upTo(1, { tries: 2, problem, goesOn: false, dueInMs: 500 }));
    expect(await storage.consumers.note(entry, upTo(2))).toEqual({ kind: 'lost' });
    clock.advance(499);
    expect(await claimed(storage, MAIL)).toEqual([]);
    clock.advance(1);
    expect(await theClaimed(storage, MAIL)).toEqual({ ...entry, seq: 1, tries: 2, problem });
  });

  test('finished work is gone, and the next events are new work', async (fixture) => {
    const { storage, clock } = fixture;
    await dispatched(fixture, 2);
    const entry = await theClaimed(storage, MAIL);
    expect(await storage.consumers.note(entry, upTo(2))).toEqual({ kind: 'done' });
    expect(await storage.consumers.note(entry, upTo(2))).toEqual({ kind: 'lost' });
    clock.advance(1_000);
    expect(await claimed(storage, MAIL)).toEqual([]);
    expect(await storage.consumers.lag(MAIL)).toEqual({ sessions: 0, deadLetters: 0, now: clock.now() });
    await storage.append(createTestCommit('e3'));
    await dispatchTo(storage, [MAIL]);
    expect(await theClaimed(storage, MAIL)).toMatchObject({ seq: 2, upTo: 3, since: clock.now(), tries: 0 });
  });

  test('the oldest work comes first, up to the limit', async ({ storage, clock }) => {
    await storage.consumers.register(MAIL, '');
    for (const sessionId of ['c', 'a', 'b']) {
      const key = { ...KEY, sessionId };
      await storage.create(creation({ key }));
      await storage.append(createTestCommit('e1', { key }));
      await dispatchTo(storage, [MAIL]);
      clock.advance(1);
    }
    const names = async (claim: string): Promise<string[]> =>
      (await claimed(storage, MAIL, claim, 2)).map(({ key }) => key.sessionId);
    expect((await names('one')).toSorted()).toEqual(['a', 'c']);
    expect(await names('two')).toEqual(['b']);
    expect(await storage.consumers.lag(MAIL)).toMatchObject({ sessions: 3, oldestSince: clock.now() - 3 });
  });

  test('if workers claim at the same time, only one gets an entry', async ({ storage }) => {
    await storage.consumers.register(MAIL, '');
    for (const sessionId of ['a', 'b', 'c', 'd']) {
      const key = { ...KEY, sessionId };
      await storage.create(creation({ key }));
      await storage.append(createTestCommit('e1', { key }));
    }
    await dispatchTo(storage, [MAIL], { count: 4 });
    const all = await Promise.all(['1', '2', '3', '4', '5', '6'].map((claim) => claimed(storage, MAIL, claim, 2)));
    const rest = await claimed(storage, MAIL, 'rest');
    expect([...all.flat(), ...rest].map(({ key }) => key.sessionId).toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a dead letter is listed and not due; the work continues after it', async (fixture) => {
    const { storage, clock } = fixture;
    await dispatched(fixture, 3);
    const entry = await theClaimed(storage, MAIL);
    const letter = { seq: 2, tries: 3, problem: 'broken' };
    expect(await storage.consumers.note(entry, upTo(2, { letter }))).toEqual({ kind: 'left', upTo: 3 });
    const dead = { ...entry, letterSeq: 2, seq: 1, upTo: 2, tries: 3, problem: 'broken', claim: '' };
    expect(await storage.consumers.deadLetters(MAIL, 10)).toEqual([dead]);
    expect(await storage.consumers.lag(MAIL)).toMatchObject({ sessions: 1, deadLetters: 1 });
    clock.advance(1_000_000);
    expect(await theClaimed(storage, MAIL, 'two')).toMatchObject({ letterSeq: 0, seq: 2 });
  });

  test('a dead letter can be tried again, and can fail again', async (fixture) => {
    const { storage } = fixture;
    await dispatched(fixture, 2);
    const entry = await theClaimed(storage, MAIL);
    await storage.consumers.note(entry, upTo(2, { letter: { seq: 2, tries: 3, problem: 'broken' } }));
    const [letter] = await storage.consumers.deadLetters(MAIL, 10);
    if (!letter) throw new Error('No letter');
    expect(await storage.consumers.resolve(letter, 'retry')).toBe(true);
    expect(await storage.consumers.resolve(letter, 'retry')).toBe(false);
    expect(await storage.consumers.resolve(letter, 'drop')).toBe(false);
    expect(await storage.consumers.deadLetters(MAIL, 10)).toEqual([]);
    const revived = await theClaimed(storage, MAIL, 'two');
    expect(revived).toEqual({ ...letter, tries: 0, claim: 'two' });
    const again = { seq: 2, tries: 1, problem: 'still broken' };
    expect(await storage.consumers.note(revived, upTo(2, { letter: again }))).toEqual({ kind: 'done' });
    expect(await storage.consumers.deadLetters(MAIL, 10)).toEqual([{ ...letter, tries: 1, problem: 'still broken' }]);
    expect(await storage.consumers.lag(MAIL)).toMatchObject({ sessions: 0, deadLetters: 1 });
    expect(await storage.consumers.resolve(letter, 'drop')).toBe(true);
    expect(await storage.consumers.lag(MAIL)).toMatchObject({ sessions: 0, deadLetters: 0 });
  });

  test('removing a consumer removes all its data, and no data of others', async (fixture) => {
    const { storage } = fixture;
    await storage.consumers.register('other', '');
    await dispatched(fixture, 2);
    await storage.append(createTestCommit('e3'));
    await dispatchTo(storage, [MAIL, 'other']);
    const entry = await theClaimed(storage, MAIL);
    await storage.consumers.note(entry, upTo(1, { letter: { seq: 1, tries: 1, problem: 'broken' } }));
    for (let round = 0; !(await storage.consumers.remove(MAIL, 1)); round++) expect(round).toBeLessThan(5);
    expect((await storage.consumers.list()).map(({ name }) => name)).toEqual(['other']);
    expect(await storage.consumers.deadLetters(MAIL, 10)).toEqual([]);
    expect(await storage.consumers.lag(MAIL)).toMatchObject({ sessions: 0, deadLetters: 0 });
    expect(await claimed(storage, 'other')).toHaveLength(1);
  });
});
