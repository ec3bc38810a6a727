import type { EventInput, LoggedEvent } from '../../src/index.js';
import { EventActions } from '../../src/index.js';
import type { SessionRecord } from '../../src/sessions/domain/stored/session-record.js';
import { BranchGrowth, branchMarkOf, uncoveredOf } from '../../src/summarizer/branch-growth.js';
import { KEY, agent } from './summarized-sessions.js';

const LIMIT = 4;

const no = (count: number) => Array.from({ length: count }, () => false);

function logged(seq: number, event: Partial<EventInput>): LoggedEvent {
  return { ...agent('x'), actions: new EventActions(), ...event, seq, id: String(seq), timestamp: 0 } as LoggedEvent;
}

const summaryOf = (branch: string, toSeq: number) => ({
  branch,
  actions: new EventActions({ branchSummary: { branch, fromSeq: 1, toSeq, text: 'short' } }),
});

function countsOf(...events: Partial<EventInput>[]): object {
  const marks = events.flatMap((event, index) => branchMarkOf(logged(index + 1, event)) ?? []);
  return Object.fromEntries(uncoveredOf(marks));
}

describe('the events of a branch that no summary covers', () => {
  it('are its own, not those of others or of nobody', () => {
    expect(countsOf({ branch: 'a' }, {}, { branch: 'a.b' }, { branch: 'a' })).toEqual({ a: 2, 'a.b': 1 });
  });

  it('are those after what its newest summary covers, wherever this summary stands', () => {
    const events = [{ branch: 'a' }, { branch: 'a' }, { branch: 'b' }, { branch: 'a' }];
    expect(countsOf(...events, summaryOf('a', 2), { branch: 'a' }, summaryOf('a', 1))).toEqual({ a: 2, b: 1 });
  });

  it('are counted as if there was no summary if it was redacted', () => {
    const redacted = { ...summaryOf('a', 2), redaction: { reason: 'on request' } } as Partial<EventInput>;
    expect(countsOf({ branch: 'a' }, { branch: 'a' }, redacted)).toEqual({ a: 2 });
  });

  it.each(['', ' a', 'a\nb'])('are none of a branch for which nobody can ask: %j', (branch) => {
    expect(countsOf({ branch })).toEqual({});
  });
});

describe('the growth of branches in a process', () => {
  let growth: BranchGrowth;
  let lastSeq: number;

  beforeEach(() => {
    growth = new BranchGrowth(LIMIT);
    lastSeq = 0;
  });

  function recordOf({ events = lastSeq, marksSeq = 0, incarnation = 'i' } = {}): SessionRecord {
    const marks = { covered: { events: 0 } };
    return { ...KEY, incarnation, lastSeq, marksSeq, counters: { events }, marks } as unknown as SessionRecord;
  }

  /** Says whether the branch may be due, event by event. */
  function added(branches: readonly (string | undefined)[], of?: Parameters<typeof recordOf>[0]): boolean[] {
    return branches.map((branch) => {
      lastSeq += 1;
      return growth.add({ key: KEY, event: logged(lastSeq, { branch }), record: recordOf(of) });
    });
  }

  it('is asked about when one has more events than the limit, and then not before it has as many again', () => {
    expect(added(['a', 'b', undefined, 'a', 'b', 'a', 'a', 'a', 'b'])).toEqual([...no(7), true, false]);
    expect(added(['a', 'a', 'a', 'a', 'a'])).toEqual([...no(4), true]);
  });

  it('counts what other processes appended, which may be of any branch', () => {
    added(['a', 'a']);
    lastSeq += 2;
    expect(added(['b', 'b', 'a'])).toEqual([false, false, true]);
  });

  it('begins with what the session has, if the process does not know it', () => {
    lastSeq = 3;
    expect(added(['a', 'a'])).toEqual([false, true]);
  });

  it('asks at once about a session that came after another one under the same id', () => {
    expect(added(['a', 'a', 'a'])).toEqual(no(3));
    expect(added(['a'], { incarnation: 'other', events: 9 })).toEqual([true]);
  });

  it('takes the view as new after a summary of the whole or a rewind', () => {
    expect(added(['a', 'a', 'a', 'a'])).toEqual(no(4));
    expect(added(['a', 'a'], { marksSeq: 5, events: 3 })).toEqual([false, false]);
    expect(added(['a', 'a'], { marksSeq: 7, events: 5 })[0]).toBe(true);
  });

  it('goes on from what was read, and asks about one that is due after half as many events more', () => {
    lastSeq = 20;
    growth.learn(KEY, recordOf(), new Map([['a', 9], ['b', 3]])); // prettier-ignore
    expect(added(['b', 'b'])).toEqual([false, true]);
    growth.learn(KEY, recordOf(), new Map([['a', 9]]));
    expect(added(['a', 'a', 'a'])).toEqual([false, false, true]);
  });

  it('counts events of a batch and of parallel appends, in any order, never too low', () => {
    lastSeq = 2;
    growth.learn(KEY, recordOf(), new Map([['a', 2]]));
    const add = (seq: number) => growth.add({ key: KEY, event: logged(seq, { branch: 'a' }), record: recordOf() });
    expect([add(4), add(3), add(5)]).toContain(true);
  });
});
