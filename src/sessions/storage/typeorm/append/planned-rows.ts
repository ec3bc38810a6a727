import { inBatches } from '../../../domain/stored/batches.js';
import { payloadChecksum } from '../../../domain/write/event-digest.js';
import type { EndedPartials } from '../../../domain/stored/partial-event.js';
import { type NumberedEvent, beginsToWait } from '../../../domain/stored/session-record.js';
import type { PlannedWrite, SessionHead } from '../../planned-write.js';
import { endPartials, type NewPartial, savePartials } from '../live/partial-events.js';
import { columnList } from '../schema/column-list.js';
import { EVENTS } from '../schema/session-tables.js';
import type { Dialect } from '../sql/dialect.js';
import { changedColumns, changeIndex, type IndexedSession, rareColumns } from '../sql/session-rows.js';
import { type Columns, joinSql, type Sql, sql, sqlList } from '../sql/sql.js';
import type { ConsumerNews, LogProgress } from '../sql/transaction.js';
import { Entries, type Entry, SHARED_OWNER, STATE_OWNER, writeEntries } from '../state/write-state.js';
import { type UsageRow, UsageSums, writeUsage } from '../state/write-usage.js';
import type { Tables } from '../tables.js';
import { keepUp, type PlannedUpkeep } from './keep-up.js';

/** An event to insert. */
export interface NewEvent extends NumberedEvent {
  readonly pk: number;
}

/** The row of a session to change. */
export interface PlannedSession {
  readonly pk: number;
  readonly before: SessionHead;
  /** Whether its row stays as it is. */
  readonly isUnchanged: boolean;
  /** Columns that must have these values. A server that lost its last writes may give a key again: the new session has another time. */
  readonly guards: Columns<number>;
  /** The columns that every write sets. */
  readonly sets: Columns;
  readonly rareSets: Columns;
  /** The state as one text, or NULL if it has rows; undefined if it stays. */
  readonly state: { readonly text: string | null } | undefined;
  readonly indexed: IndexedSession;
}

/** What a write adds to a scope. */
export interface PlannedGrowth {
  readonly pk: number;
  readonly bytes: number;
  /** The scope must have at most so many bytes before. */
  readonly room: number;
}

/** The rows of planned writes. Each write is to another session. */
export class PlannedRows {
  readonly sessions: PlannedSession[] = [];
  readonly events: NewEvent[] = [];
  readonly endedPartials: { readonly pk: number; readonly ended: EndedPartials }[] = [];
  readonly partials: NewPartial[] = [];
  readonly upkeep: PlannedUpkeep[] = [];
  /** What other processes are told. */
  readonly logs: LogProgress[] = [];
  readonly news = new Set<ConsumerNews>();
  readonly #sessionState = new Entries();
  readonly #sharedState = new Entries();
  readonly #growth = new Map<string, PlannedGrowth>();
  readonly #usage = new UsageSums();

  /** Adds all but the changes of shared state. */
  add({ key, before, after, events, state, usage, endsPartials, partials, upkeep }: PlannedWrite): void {
    const pk = Number(before.record.incarnation);
    this.sessions.push({
      pk,
      before,
      isUnchanged: before.stamp === after.stamp,
      guards: [
        ['create_time', before.record.createTime],
        ['stamp', before.stamp],
      ],
      sets: changedColumns(after),
      rareSets: rareColumns(before, after),
      state: before.state === after.state ? undefined : { text: after.state ?? null },
      indexed: { pk, record: after.record, before: before.metadata ?? '', after: after.metadata ?? '' },
    });
    for (const event of events) this.events.push({ ...event, pk });
    for (const { name, value } of state) this.#sessionState.set({ ownerPk: pk, name, value });
    if (usage) this.#usage.add(pk, key, usage, events[0]?.appendedAt ?? after.record.lastUpdateTime);
    if (endsPartials !== undefined && endsPartials.length > 0) this.endedPartials.push({ pk, ended: endsPartials });
    if (upkeep) this.upkeep.push({ pk, before: before.record, after: after.record, ...upkeep });
    for (const partial of partials) this.partials.push({ ...partial, pk });
    if (events.length + partials.length > 0)
      this.logs.push({ pk, lastSeq: after.record.lastSeq, partial: partials.at(-1)?.number });
    if (beginsToWait(before.record, after.record)) this.news.add('marks');
  }

  /** Adds changes to a scope that never expires, without a look at it. */
  addToScope(owner: string, { pk, bytes, most, entries }: ScopeAddition): void {
    for (const { name, value } of entries) this.#sharedState.set({ ownerPk: pk, name, value });
    const soFar = this.#growth.get(owner);
    const all = bytes + (soFar?.bytes ?? 0);
    this.#growth.set(owner, { pk, bytes: all, room: Math.min(most - all, soFar ? soFar.room - bytes : Infinity) });
  }

  get sessionState(): readonly Entry[] {
    return this.#sessionState.sorted();
  }

  get sharedState(): readonly Entry[] {
    return this.#sharedState.sorted();
  }

  get usage(): readonly UsageRow[] {
    return this.#usage.rows();
  }

  /** One order for all transactions prevents deadlocks. */
  get scopes(): readonly PlannedGrowth[] {
    return [...this.#growth].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, scope]) => scope);
  }
}

interface ScopeAddition {
  readonly pk: number;
  readonly bytes: number;
  readonly most: number;
  readonly entries: PlannedWrite['state'];
}

export const EVENT_COLUMNS = columnList(EVENTS);

/** In the order of {@link EVENT_COLUMNS}. */
export function valuesOfEvent(event: NewEvent): (string | number)[] {
  const { pk, seq, id, appendedAt, highWater, anchor, group = '', payload } = event;
  return [pk, seq, id, payloadChecksum(payload), appendedAt, highWater, anchor ? 1 : 0, payload, group];
}

/** A server limits the number of values and the size of a message. */
const INSERT_LIMITS = { items: 500, weight: 1_000_000, weightOf: ({ payload }: NewEvent) => payload.length };

export function insertEvents({ events: table }: Pick<Tables, 'events'>, events: readonly NewEvent[]): Sql[] {
  return inBatches(events, INSERT_LIMITS).map((some) => {
    const rows = some.map((event) => sql`(${sqlList(valuesOfEvent(event))})`);
    return sql`INSERT INTO ${table} (${EVENT_COLUMNS.names}) VALUES ${joinSql(rows, ', ')}`;
  });
}

/** All columns that change. */
export function allSets({ sets, rareSets, state }: PlannedSession): Columns {
  return [...sets, ...rareSets, ...(state ? [stateSet(state.text)] : [])];
}

/** The same columns for all of these sessions, none of which has rare ones. The state is among them if one of them changes it. */
export function alikeSets(sessions: readonly PlannedSession[]): readonly Columns[] {
  const withState = sessions.some(({ state }) => state !== undefined);
  return sessions.map(({ before, sets, state }) =>
    withState ? [...sets, stateSet(state ? state.text : (before.state ?? null))] : sets,
  );
}

function stateSet(text: string | null): Columns[number] {
  return ['state', text];
}

/** What follows the rows of the sessions. All transactions write these tables in this order, which prevents deadlocks. */
export function writeChildren(dialect: Dialect, tables: Tables, rows: PlannedRows): Sql[] {
  return [
    ...rows.sessions.flatMap(({ indexed }) => changeIndex(tables, indexed)),
    ...insertEvents(tables, rows.events),
    ...rows.upkeep.flatMap((upkeep) => keepUp(tables, upkeep)),
    ...rows.endedPartials.flatMap(({ pk, ended }) => endPartials(tables, pk, ended)),
    ...savePartials(dialect, tables, rows.partials),
    ...writeEntries(dialect, tables.sessionState, STATE_OWNER, rows.sessionState),
    ...writeEntries(dialect, tables.sharedState, SHARED_OWNER, rows.sharedState),
  ];
}

/** Comes last in a transaction, so that others wait as short as possible. */
export function writeSums(dialect: Dialect, tables: Tables, rows: PlannedRows): Sql[] {
  return writeUsage(dialect, tables, rows.usage);
}
