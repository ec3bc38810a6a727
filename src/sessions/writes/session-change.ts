import { isAsExpected } from '../domain/write/commit-rules.js';
import { expiresAt } from '../domain/values/expiry.js';
import type { SessionKey } from '../domain/values/ids.js';
import { type PartialOutcome, partialOutcome, type PartialWrite } from '../domain/stored/partial-event.js';
import { type SessionRecord, markAfterDispatch } from '../domain/stored/session-record.js';
import { turnOutcome } from '../domain/write/turn-rules.js';
import type { StoredTurn, TurnOutcome, TurnRequest } from '../domain/stored/turn.js';
import type { ChangedSession } from '../storage/coordination.js';
import type { RebuildRequest } from '../storage/rebuild.js';
import type { CheckpointRequest, TouchRequest, TrimRequest } from '../storage/session-storage.js';
import type { RestoreEventsRequest } from '../storage/transfer-store.js';
import type { PlannedChange } from './session-plan.js';

/** What is decided about a change. */
export interface Decided<Outcome> {
  readonly outcome: Outcome;
  /** Undefined if nothing changes. */
  readonly change?: PlannedChange | undefined;
}

/** A change of a session that is no commit, and what decides about it. */
export interface SessionChange<Outcome> {
  readonly key: SessionKey;
  /** The outcome if there is no such session. */
  readonly missing: Outcome;
  /** Whether its session is held at once: it writes more than the record, or the record that is known is usually old. */
  readonly isRare?: boolean | undefined;
  /** How much it writes. Default: 0. */
  readonly characters?: number | undefined;
  /** Whether shared scopes are renewed. */
  readonly renews?: { readonly user: boolean; readonly app: boolean } | undefined;
  decide(record: SessionRecord, now: number): Decided<Outcome>;
  /** Whether the record is what an outcome left, after an answer that was lost. */
  isDone?(record: SessionRecord, outcome: Outcome): boolean;
}

/** Begins, renews or ends a turn. */
export function turnChange(request: TurnRequest): SessionChange<TurnOutcome> {
  return {
    key: request.key,
    missing: { kind: 'missing' },
    decide: (record, now) => {
      const outcome = turnOutcome(request, record, now);
      return { outcome, change: outcome.kind === 'changed' ? { record: { turn: outcome.turn } } : undefined };
    },
    isDone: ({ turn }, outcome) => outcome.kind === 'changed' && isSameTurn(turn, outcome.turn),
  };
}

function isSameTurn(stored: StoredTurn, planned: StoredTurn): boolean {
  return stored.token === planned.token && stored.number === planned.number && stored.expiresAt === planned.expiresAt;
}

/** Saves a piece of an answer. After a lost answer it is saved again, since the same number replaces it. */
export function partialChange(write: PartialWrite): SessionChange<PartialOutcome> {
  return {
    key: write.key,
    characters: write.content.length,
    missing: { kind: 'lost' },
    decide: (record, now) => {
      const outcome = partialOutcome(write, record, now);
      return { outcome, change: outcome.kind === 'saved' ? { partial: outcome.partial } : undefined };
    },
  };
}

/** Renews lifetimes. */
export function touchChange({ key, incarnation, renew }: TouchRequest): SessionChange<void> {
  const { session, user, app } = renew;
  return {
    key,
    missing: undefined,
    isRare: user !== undefined || app !== undefined,
    renews: { user: user !== undefined, app: app !== undefined },
    decide: (record, now) => {
      if (record.incarnation !== incarnation) return NOTHING;
      const expiry = session && { expiresAt: expiresAt(now, session) };
      return { outcome: undefined, change: { record: expiry, renews: { user, app } } };
    },
  };
}

/** Replaces the payloads of the oldest events. */
export function trimChange({ key, newFirstSeq, digests, baseState, ...expected }: TrimRequest): SessionChange<void> {
  return {
    key,
    isRare: true,
    missing: undefined,
    decide: (record) => {
      if (!isAsExpected(record, expected) || newFirstSeq <= record.firstSeq) return NOTHING;
      return {
        outcome: undefined,
        change: { record: { firstSeq: newFirstSeq }, upkeep: { trim: { digests, baseState } } },
      };
    },
  };
}

/** Keeps a checkpoint. */
export function checkpointChange({ key, incarnation, seq, text }: CheckpointRequest): SessionChange<void> {
  return {
    key,
    isRare: true,
    missing: undefined,
    decide: (record) => {
      if (record.incarnation !== incarnation || seq < record.firstSeq - 1) return NOTHING;
      return { outcome: undefined, change: { upkeep: { checkpoint: { seq, text } } } };
    },
  };
}

/** Adds events with the times that they had in another store. */
export function restoreChange(request: RestoreEventsRequest): SessionChange<boolean> {
  const { key, incarnation, lastSeq, events } = request;
  return {
    key,
    isRare: true,
    missing: false,
    decide: (record) => {
      if (!isAsExpected(record, { incarnation, lastSeq })) return { outcome: false };
      const numbered = events.map((event, index) => ({ ...event, seq: lastSeq + 1 + index }));
      const highWater = Math.max(record.highWater, events.at(-1)?.highWater ?? 0);
      return {
        outcome: true,
        change: {
          record: { lastSeq: lastSeq + events.length, highWater },
          events: numbered,
          upkeep: { isRestored: true },
        },
      };
    },
  };
}

/** Replaces what follows from the log. */
export function rebuildChange({
  key,
  incarnation,
  lastSeq,
  usage,
  ...repairs
}: RebuildRequest): SessionChange<boolean> {
  return {
    key,
    isRare: true,
    missing: false,
    decide: (record) => {
      const isKept = (repairs.events ?? []).every(({ seq }) => seq >= record.firstSeq && seq <= record.lastSeq);
      if (!isKept || !isAsExpected(record, { incarnation, lastSeq })) return { outcome: false };
      return { outcome: true, change: { record: usage && { usage }, upkeep: { repairs } } };
    },
  };
}

/** Notes that the events of a session are dispatched to consumers, as it was read. */
export function dispatchChange(seen: ChangedSession): SessionChange<void> {
  return {
    key: seen,
    // Another process has usually written what is dispatched.
    isRare: true,
    missing: undefined,
    decide: (record, now) => {
      if (record.incarnation !== seen.incarnation) return NOTHING;
      return { outcome: undefined, change: recordChange(markAfterDispatch(record, seen, now)) };
    },
  };
}

function recordChange(record: Partial<SessionRecord> | undefined): PlannedChange | undefined {
  return record && { record };
}

const NOTHING: Decided<void> = { outcome: undefined };
