import { numberedEvents, recordAfter, refusalOf } from '../../../domain/commit-rules.js';
import type { NumberedEvent } from '../../../domain/session-record.js';
import type { AppendOutcome, Commit } from '../../../domain/commit.js';
import { isExpired, type Lifetime, NEVER } from '../../../domain/expiry.js';
import { scopeOfOwner, sessionNameOf, type StateOwner } from '../../../domain/ids.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import { UNCOUNTED, sizeAfter, stateExcess } from '../../../domain/state-size.js';
import { changesNothing, type StateWrites, writesOf } from '../../../domain/stored-json.js';
import { groupBy } from '../../../domain/batches.js';
import { directColumns, guardColumns } from '../sql/session-rows.js';
import type { ConsumerNews, LogProgress } from '../sql/transaction.js';
import { ownerKey } from '../state/locked-scopes.js';
import { Entries } from '../state/write-state.js';
import { UsageSums } from '../state/write-usage.js';
import {
  AHEAD_MS,
  type CreatedRows,
  type DirectCreate,
  type DirectScope,
  type DirectSession,
  type DirectWrite,
  type Moment,
  type NewEvent,
  timeRange,
} from './direct-write.js';
import type { KnownSessions } from './known-sessions.js';

/** Writes without a read before. */
export interface DirectWrites {
  /**
   * Writes what `plan` returns once a connection is ready, and returns it. Returns `undefined` if nothing was written. Throws
   * if that is not known. In both cases the caller uses a transaction.
   */
  writeDirectly(plan: (moment: Moment) => DirectAppends, calledAt: number): Promise<DirectAppends | undefined>;
  /**
   * Inserts the session that `plan` returns once a connection is ready. Returns `undefined` if nothing was written, for example
   * because there is one with its ids: then the caller uses a transaction. Throws if that is not known.
   */
  createDirectly(plan: (moment: Moment) => DirectCreate, calledAt: number): Promise<CreatedRows | undefined>;
}

/** One statement inserts all events. */
const MAX_EVENTS = 256;

/** Whether a commit is worth a plan: its session is remembered, and it changes only events, state and usage. */
export function mayBeDirect(commit: Commit, known: KnownSessions): boolean {
  return (
    hasDirectPartsOnly(commit) && known.find(commit.key) !== undefined && sharedWrites(commit, known) !== undefined
  );
}

/** The parts of a commit that direct writes write. All others need a transaction. */
const DIRECT_PARTS: ReadonlySet<string> = new Set<keyof Commit>([
  'key',
  'events',
  'upserts',
  'removals',
  'counterIncrements',
  'usage',
  'maxStateBytes',
  'expiry',
  'preconditions',
  'endsTurn',
]);

function hasDirectPartsOnly(commit: Commit): boolean {
  return Object.entries(commit).every(([name, part]: [string, unknown]) => DIRECT_PARTS.has(name) || isMissing(part));
}

function isMissing(part: unknown): boolean {
  return part === undefined || (Array.isArray(part) && part.length === 0);
}

/** Appends that rely on remembered records, in one write. */
export class DirectAppends {
  readonly #outcomes = new Map<Commit, AppendOutcome>();
  readonly #sessions: DirectSession[] = [];
  readonly #events: NewEvent[] = [];
  readonly #sessionState = new Entries();
  readonly #sharedState = new Entries();
  readonly #scopes = new Map<string, DirectScope>();
  readonly #usage = new UsageSums();
  /** The records of the sessions after the write. */
  readonly records: SessionRecord[] = [];
  /** The shared scopes that it writes to. */
  readonly owners = new Set<string>();
  /** What other processes are told. */
  readonly logs: LogProgress[] = [];
  readonly news = new Set<ConsumerNews>();

  /**
   * Plans the commits to sessions whose records are remembered. It leaves out all commits of a session if one of them is
   * refused, since the stored record decides about that, or has other parts.
   */
  constructor(
    commits: readonly Commit[],
    known: KnownSessions,
    private readonly moment: Moment,
  ) {
    for (const ofSession of groupBy(commits, ({ key }) => sessionNameOf(key)).values()) {
      const before = ofSession[0] && known.find(ofSession[0].key);
      if (before && isCertain(before, moment)) this.#addSession(ofSession, before, known);
    }
  }

  get isEmpty(): boolean {
    return this.#sessions.length === 0;
  }

  /** The outcome of a commit if the write succeeds; `undefined` if the commit is not part of it. */
  outcomeOf(commit: Commit): AppendOutcome | undefined {
    return this.#outcomes.get(commit);
  }

  get write(): DirectWrite {
    return {
      sessions: this.#sessions,
      events: this.#events,
      sessionState: this.#sessionState.sorted(),
      sharedState: this.#sharedState.sorted(),
      // One order for all transactions prevents deadlocks.
      scopes: [...this.#scopes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, scope]) => scope),
      usage: this.#usage.rows(),
      time: timeRange(this.moment),
    };
  }

  #addSession(commits: readonly Commit[], before: SessionRecord, known: KnownSessions): void {
    const { now } = this.moment;
    const pk = Number(before.incarnation);
    const outcomes: (readonly [Commit, AppendOutcome])[] = [];
    const events: NumberedEvent[] = [];
    const shared: SharedWrites[] = [];
    let record = before;
    for (const commit of commits) {
      const toScopes = mayBeDirect(commit, known) ? sharedWrites(commit, known) : undefined;
      if (!toScopes || refusalOf(commit, record, [], now)) return;
      // A transaction counts what the state really has.
      if (stateExcess('session', { atMost: record.stateBytes }, commit, commit.maxStateBytes)) return;
      const after = recordAfter(commit, record, now);
      outcomes.push([commit, { kind: 'appended', record: after, now, previousTipSeq: record.tipSeq }]);
      events.push(...numberedEvents(commit, record, now));
      shared.push(...toScopes);
      record = after;
    }
    if (this.#events.length + events.length > MAX_EVENTS) return;
    for (const [commit, outcome] of outcomes) {
      this.#outcomes.set(commit, outcome);
      this.#sessionState.add(pk, writesOf('session', commit));
      if (commit.usage) this.#usage.add(pk, commit.key, commit.usage, now);
    }
    for (const { owner, scopePk, writes, scope, most } of shared) {
      this.owners.add(owner);
      this.#sharedState.add(scopePk, writes);
      const soFar = this.#scopes.get(owner) ?? { bytes: 0, room: Infinity };
      const bytes = sizeAfter({ atMost: soFar.bytes }, writes, scope).atMost;
      const room = Math.min(soFar.room + soFar.bytes, most) - bytes;
      this.#scopes.set(owner, { pk: scopePk, bytes, room });
    }
    this.#events.push(...events.map((event) => ({ ...event, pk })));
    this.#sessions.push({ pk, guards: guardColumns(before), sets: directColumns(record) });
    this.records.push(record);
    this.logs.push({ pk, lastSeq: record.lastSeq });
    if (record.waitingSince !== before.waitingSince) this.news.add('marks');
  }
}

/** Whether expiry and turn are the same at any time within the slack. */
function isCertain({ expiresAt: expiry, turn }: SessionRecord, { now, slackMs }: Moment): boolean {
  const isTurnCertain = isExpired(turn.expiresAt, now - AHEAD_MS) || !isExpired(turn.expiresAt, now + slackMs);
  return !isExpired(expiry, now + slackMs) && isTurnCertain;
}

interface SharedWrites {
  readonly owner: string;
  readonly scopePk: number;
  readonly scope: 'user' | 'app';
  readonly writes: StateWrites;
  /** How large the scope may become. */
  readonly most: number;
}

/** The changes of shared state. `undefined` if a scope is not known, expires or may become empty. */
function sharedWrites(commit: Commit, known: KnownSessions): readonly SharedWrites[] | undefined {
  const { key, expiry, maxStateBytes } = commit;
  if (!expiry) return [];
  const { appName, userId } = key;
  const scopes: readonly (readonly [StateOwner, StateWrites, Lifetime])[] = [
    [{ appName }, writesOf('app', commit), expiry.app],
    [{ appName, userId }, writesOf('user', commit), expiry.user],
  ];
  const found: SharedWrites[] = [];
  for (const [whose, writes, { ttlMs }] of scopes) {
    if (ttlMs < NEVER) return undefined;
    if (changesNothing(writes)) continue;
    const owner = ownerKey(whose);
    const scopePk = known.scope(owner);
    if (scopePk === undefined || writes.removals.length > 0) return undefined;
    const scope = scopeOfOwner(whose);
    // What was not counted yet leaves no room.
    found.push({ owner, scopePk, scope, writes, most: Math.min(maxStateBytes?.[scope] ?? Infinity, UNCOUNTED - 1) });
  }
  return found;
}
