import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Commit, StoredEvent } from '../../src/sessions/domain/stored/commit.js';
import { StoreUnavailableError } from '../../src/sessions/domain/errors/errors.js';
import { NEVER } from '../../src/sessions/domain/values/expiry.js';
import {
  type PartialOutcome,
  partialsLeft,
  type PartialWrite,
  type StoredPartial,
} from '../../src/sessions/domain/stored/partial-event.js';
import { EMPTY_LOG, newRecord } from '../../src/sessions/domain/stored/session-record.js';
import type {
  Held,
  HoldRequest,
  PlannedWrite,
  SessionHead,
  WriteAnswer,
  WriteStore,
} from '../../src/sessions/storage/planned-write.js';
import type { PlanTime } from '../../src/sessions/storage/plan-time.js';
import { partialChange, type SessionChange, turnChange } from '../../src/sessions/writes/session-change.js';
import { SessionWriter } from '../../src/sessions/writes/session-writer.js';
import { NO_COUNTS } from '../../src/sessions/domain/stored/counters.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const NOW = 1_000;

function commitOf(id: string, parts: Partial<Commit> = {}): Commit {
  return {
    key: KEY,
    events: [{ id, timestamp: NOW, anchor: false, payload: `"${id}"` }],
    upserts: [],
    removals: [],
    counterIncrements: { ...NO_COUNTS, events: 1 },
    preconditions: {},
    ...parts,
  };
}

/** A store with one session, or none. */
class OneSession implements WriteStore {
  limits = { maxBatches: 1, maxWaiting: 1, isOn: true };
  head: SessionHead | undefined;
  readonly events = new Map<string, StoredEvent>();
  writes = 0;
  holds = 0;
  /** Called before the next write is compared. */
  meanwhile: (() => void) | undefined;
  losesAnswers = false;
  /** By how much its time may be later when it writes. */
  slackMs = 0;
  partials: StoredPartial[] = [];
  #held: Promise<void> = Promise.resolve();

  constructor(exists = true) {
    const record = newRecord(KEY, '1', NOW, NEVER, EMPTY_LOG);
    if (exists) this.head = { record, metadata: '', state: undefined, stamp: 0 };
  }

  async write(plan: (moment: PlanTime) => readonly PlannedWrite[]): Promise<readonly WriteAnswer[]> {
    const writes = plan({ now: NOW, slackMs: this.slackMs });
    if (writes.length > 0) this.writes += 1;
    this.meanwhile?.();
    this.meanwhile = undefined;
    const answers = writes.map((write): WriteAnswer => {
      if (write.events.some(({ id }) => this.events.has(id))) return { kind: 'unwritten' };
      if (this.head?.stamp !== write.before.stamp) return { kind: 'changed', head: this.head };
      this.#apply(write);
      return { kind: 'written' };
    });
    if (this.losesAnswers) throw new StoreUnavailableError('The answer is lost', true);
    return answers;
  }

  /** One after the other. */
  hold(requests: readonly HoldRequest[], decide: (held: Held) => Promise<readonly PlannedWrite[]>): Promise<void> {
    this.holds += 1;
    this.#held = this.#held.then(() => this.#hold(requests, decide));
    return this.#held;
  }

  async #hold(
    requests: readonly HoldRequest[],
    decide: (held: Held) => Promise<readonly PlannedWrite[]>,
  ): Promise<void> {
    const { head, events } = this;
    const session = { head, events, countState: async () => ({ atMost: 0, entries: new Map() }) };
    const scopes = { excessOf: async () => undefined, add: () => undefined };
    const writes = await decide({ now: NOW, sessions: requests.map(() => session), scopes });
    for (const write of writes) this.#apply(write);
  }

  /** Another process appends. */
  appendElsewhere(id: string): void {
    if (!this.head) return;
    const seq = this.head.record.lastSeq + 1;
    this.events.set(id, { seq, id, digest: '', appendedAt: NOW, payload: '' });
    this.head = { ...this.head, record: { ...this.head.record, lastSeq: seq, tipSeq: seq }, stamp: -seq };
  }

  #apply({ after, events, endsPartials, partials }: PlannedWrite): void {
    this.head = after;
    const numbers = new Set(partials.map(({ number }) => number));
    const others = partialsLeft(this.partials, endsPartials).filter(({ number }) => !numbers.has(number));
    this.partials = [...others, ...partials];
    for (const { seq, id, appendedAt, payload } of events)
      this.events.set(id, { seq, id, digest: '', appendedAt, payload });
  }

  get seqs(): Record<string, number> {
    return Object.fromEntries([...this.events.values()].map(({ id, seq }) => [id, seq]));
  }
}

/** A writer that knows the session. */
async function knowingWriter(store: OneSession): Promise<SessionWriter> {
  const writer = new SessionWriter(store);
  await writer.append(commitOf('first'));
  store.holds = 0;
  return writer;
}

/** A piece of the answer of the turn that {@link writerInTurn} began. */
function pieceOf(index: number, parts: Partial<PartialWrite> = {}): SessionChange<PartialOutcome> {
  const piece = { key: KEY, incarnation: '1', turnToken: 't-1', messageId: 'm-1', content: `${index}`, ttlMs: 9 };
  return partialChange({ ...piece, index, ...parts });
}

async function writerInTurn(store: OneSession, ttlMs = 5_000): Promise<SessionWriter> {
  const writer = await knowingWriter(store);
  await writer.change(turnChange({ action: 'begin', key: KEY, token: 't-1', holder: 'h', requestId: 'r', ttlMs }));
  store.writes = 0;
  return writer;
}

describe('SessionWriter', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'takes an append that comes %s promises after the last one ended',
    async (promises) => {
      const writer = new SessionWriter(new OneSession(false));
      await writer.append(commitOf('e-1'));
      for (let count = 0; count < promises; count++) await Promise.resolve();
      const ended = writer.append(commitOf('e-1')).then(() => 'ended');
      expect(await Promise.race([ended, nextTurn('still queued')])).toBe('ended');
    },
  );

  it('holds a session that it does not know, and then writes without', async () => {
    const store = new OneSession();
    const writer = new SessionWriter(store);
    expect(await writer.append(commitOf('a'))).toMatchObject({ kind: 'appended', record: { lastSeq: 1 } });
    expect([store.holds, store.writes]).toEqual([1, 0]);
    expect(await writer.append(commitOf('b'))).toMatchObject({ kind: 'appended', record: { lastSeq: 2 } });
    expect([store.holds, store.writes]).toEqual([1, 1]);
  });

  it('makes one write of what waits for a session, and each has its own outcome', async () => {
    const store = new OneSession();
    const writer = await knowingWriter(store);
    const ids = ['a', 'b', 'a', 'c'];
    const outcomes = await Promise.all(ids.map((id) => writer.append(commitOf(id))));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['appended', 'appended', 'seen', 'appended']);
    expect(store.seqs).toEqual({ first: 1, a: 2, b: 3, c: 4 });
    expect([store.holds, store.writes]).toEqual([1, 1]);
  });

  it('recognises a repeated event whose condition no longer holds, also beside another append', async () => {
    const store = new OneSession();
    const writer = await knowingWriter(store);
    const isFirst = { preconditions: { lastSeq: 0 } };
    const outcomes = await Promise.all([writer.append(commitOf('a')), writer.append(commitOf('first', isFirst))]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['appended', 'seen']);
  });

  it('decides again on the head that came back', async () => {
    const store = new OneSession();
    const writer = await knowingWriter(store);
    store.meanwhile = () => store.appendElsewhere('other');
    expect(await writer.append(commitOf('a'))).toMatchObject({ kind: 'appended', previousTipSeq: 2 });
    expect(store.seqs).toEqual({ first: 1, other: 2, a: 3 });
    expect([store.holds, store.writes]).toEqual([0, 2]);
  });

  it('holds the session after two misses', async () => {
    const store = new OneSession();
    const writer = await knowingWriter(store);
    let others = 0;
    const another = (): void => {
      store.appendElsewhere(`other-${others++}`);
      if (others < 3) queueMicrotask(() => (store.meanwhile = another));
    };
    store.meanwhile = another;
    expect(await writer.append(commitOf('a'))).toMatchObject({ kind: 'appended' });
    expect([store.holds, store.writes]).toEqual([1, 2]);
  });

  it('refuses only what the stored session refuses', async () => {
    const store = new OneSession();
    const writer = await knowingWriter(store);
    store.appendElsewhere('other');
    const isNew = { preconditions: { lastSeq: 2 } };
    expect(await writer.append(commitOf('a', isNew))).toMatchObject({ kind: 'appended', record: { lastSeq: 3 } });
    expect(await writer.append(commitOf('b', isNew))).toEqual({ kind: 'overtaken' });
    store.head = undefined;
    expect(await writer.append(commitOf('c', isNew))).toEqual({ kind: 'missing' });
  });

  it('finds out what became of a write whose answer is lost', async () => {
    const store = new OneSession();
    const writer = await knowingWriter(store);
    store.losesAnswers = true;
    expect(await writer.append(commitOf('a'))).toMatchObject({ kind: 'appended', record: { lastSeq: 2 } });
    expect(store.seqs).toEqual({ first: 1, a: 2 });
    expect(await writer.append(commitOf('a'))).toMatchObject({ kind: 'seen' });
  });

  it('finds out what became of a turn whose answer is lost', async () => {
    const store = new OneSession();
    const writer = await knowingWriter(store);
    store.losesAnswers = true;
    const begun = { action: 'begin', key: KEY, token: 't-1', holder: 'h', requestId: 'r', ttlMs: 5_000 } as const;
    expect(await writer.change(turnChange(begun))).toMatchObject({
      kind: 'changed',
      takesOver: false,
      turn: { number: 1 },
    });
    const ended = { action: 'end', key: KEY, token: 't-1' } as const;
    expect(await writer.change(turnChange(ended))).toMatchObject({ kind: 'changed', turn: { expiresAt: 0 } });
    store.losesAnswers = false;
    expect(await writer.change(turnChange(ended))).toEqual({ kind: 'lost' });
  });

  describe('of a piece of an answer', () => {
    it('makes one write with what else waits for the session, in the order of the calls', async () => {
      const store = new OneSession();
      const writer = await writerInTurn(store);
      const outcomes = await Promise.all([
        writer.change(pieceOf(1)),
        writer.change(pieceOf(2, { messageId: 'm-2', content: 'first' })),
        writer.append(commitOf('a', { endsPartials: ['m-1'] })),
        writer.change(pieceOf(3)),
        writer.change(pieceOf(2, { messageId: 'm-2', content: 'second' })),
      ]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['saved', 'saved', 'appended', 'saved', 'saved']);
      expect(store.partials.map(({ afterSeq, content }) => [afterSeq, content])).toEqual([
        [2, 'second'],
        [2, '3'],
      ]);
      expect([store.holds, store.writes]).toEqual([0, 1]);
    });

    it('leaves the session as it is, and decides again on the head that came back', async () => {
      const store = new OneSession();
      const writer = await writerInTurn(store);
      const { head } = store;
      await writer.change(pieceOf(1));
      expect(store.head).toEqual(head);
      store.meanwhile = () => store.appendElsewhere('other');
      expect(await writer.change(pieceOf(2))).toMatchObject({ kind: 'saved', partial: { afterSeq: 2 } });
      expect([store.holds, store.writes]).toEqual([0, 3]);
    });

    it('saves it again after an answer that is lost', async () => {
      const store = new OneSession();
      const writer = await writerInTurn(store);
      store.losesAnswers = true;
      expect(await writer.change(pieceOf(1))).toMatchObject({ kind: 'saved' });
      expect(store.partials.map(({ content }) => content)).toEqual(['1']);
    });

    it('saves nothing once the turn is over', async () => {
      const store = new OneSession();
      const writer = await writerInTurn(store);
      const end = turnChange({ action: 'end', key: KEY, token: 't-1' });
      const outcomes = await Promise.all([writer.change(pieceOf(1)), writer.change(end), writer.change(pieceOf(2))]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['saved', 'changed', 'lost']);
      expect(await writer.change(pieceOf(3))).toEqual({ kind: 'lost' });
      expect(store.partials.map(({ content }) => content)).toEqual(['1']);
    });

    it('holds the session if its turn may end before the store writes', async () => {
      const store = new OneSession();
      const writer = await writerInTurn(store, 1_000);
      store.slackMs = 999;
      expect(await writer.change(pieceOf(1))).toMatchObject({ kind: 'saved' });
      expect([store.holds, store.writes]).toEqual([0, 1]);
      store.slackMs = 1_000;
      expect(await writer.change(pieceOf(2))).toMatchObject({ kind: 'saved' });
      expect([store.holds, store.writes]).toEqual([1, 1]);
    });
  });

  it('without batches, writes each by itself', async () => {
    const store = new OneSession();
    store.limits = { ...store.limits, isOn: false };
    const writer = new SessionWriter(store);
    const outcomes = await Promise.all(['a', 'b', 'c'].map((id) => writer.append(commitOf(id))));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['appended', 'appended', 'appended']);
    expect(new Set(Object.values(store.seqs))).toEqual(new Set([1, 2, 3]));
  });
});
