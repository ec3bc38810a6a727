import type { AppendOutcome, Commit } from '../../../domain/commit.js';
import { recordAfter } from '../../../domain/commit-rules.js';
import { NEVER } from '../../../domain/expiry.js';
import { type SessionKey, sessionNameOf } from '../../../domain/ids.js';
import type { SessionRecord } from '../../../domain/session-record.js';
import { UNCOUNTED, stateExcess } from '../../../domain/state-size.js';
import { type ScriptArguments, luaPlaceOf } from '../script/codec.js';
import { usageLine } from '../script/usage.lua.js';

/** Of how many sessions the last record is remembered. */
const MAX_SESSIONS = 1_000;

/** How many lines of a record come before those that a plain append never changes. */
const CHANGING_LINES = luaPlaceOf('turnsOnly') - 1;

/** The record of a session after an append of this process. */
export interface RememberedRecord {
  readonly record: SessionRecord;
  /** As it is stored. */
  readonly text: string;
}

/** A plain append to a session whose record is remembered. */
export interface AppendHint {
  readonly before: RememberedRecord;
  /** The record after the append: what comes before and after two lines that depend on the time of the store. */
  readonly prefix: string;
  readonly suffix: string;
}

/**
 * The last records of sessions that this process appended to. An append sends what the record was and what it becomes. If the
 * stored record is still the same, the script need not read it line by line; otherwise the script does that, and the answer is
 * remembered instead.
 *
 * A record is taken out for an append and comes back with its answer, so that of several appends at the same time only the
 * first one uses it.
 */
export class RememberedRecords {
  readonly #records = new Map<string, RememberedRecord>();

  take(commit: Commit): AppendHint | undefined {
    const name = sessionNameOf(commit.key);
    const before = this.#records.get(name);
    if (!before) return undefined;
    this.#records.delete(name);
    return isPlain(commit, before.record) ? hintOf(commit, before) : undefined;
  }

  remember(key: SessionKey, remembered: RememberedRecord): void {
    if (!isUsable(remembered.record)) return;
    if (this.#records.size >= MAX_SESSIONS) {
      for (const oldest of this.#records.keys()) {
        this.#records.delete(oldest);
        break;
      }
    }
    this.#records.set(sessionNameOf(key), remembered);
  }
}

/** Sessions that expire, that need or had a turn, or of which no event waits for consumers change in more ways. */
function isUsable({ expiresAt, waitingSince, turnsOnly, turn }: SessionRecord): boolean {
  return expiresAt >= NEVER && waitingSince > 0 && !turnsOnly && turn.number === 0;
}

/** Whether a commit appends one event, adds usage of one model, sets keys of the session, and nothing else. */
function isPlain(commit: Commit, { incarnation, stateBytes }: SessionRecord): boolean {
  const { events, upserts, removals, expiry, preconditions, usage, metadata = [], endsPartials = [] } = commit;
  if (
    events.length !== 1 ||
    (usage?.models.length ?? 0) > 1 ||
    removals.length + metadata.length + endsPartials.length > 0
  )
    return false;
  if (commit.marks || commit.endsTurn) return false;
  if (!expiry || Math.min(expiry.session.ttlMs, expiry.user.ttlMs, expiry.app.ttlMs) < NEVER) return false;
  const { incarnation: wanted = incarnation, ...others } = preconditions;
  if (wanted !== incarnation || Object.values(others).some((value) => value !== undefined)) return false;
  const isOwn = upserts.every(({ scope }) => scope === 'session');
  return Number.isInteger(events[0]?.timestamp) && isOwn && isRoomFor(commit, stateBytes);
}

/** Whether the state certainly stays within its limit. Otherwise the script counts it. */
function isRoomFor(commit: Commit, stateBytes: number): boolean {
  if (commit.upserts.length === 0) return true;
  return stateBytes < UNCOUNTED && !stateExcess('session', { atMost: stateBytes }, commit, commit.maxStateBytes);
}

function hintOf(commit: Commit, before: RememberedRecord): AppendHint {
  const { record, text } = before;
  // The times are not known yet; nothing that is used here depends on them.
  const { incarnation, createTime, expiresAt, firstSeq, lastSeq, tipSeq, counters, ...after } = recordAfter(
    commit,
    record,
    0,
  );
  const { turns, events, contentLength, tokens } = counters;
  return {
    before,
    prefix: `${incarnation}\n${createTime}\n${expiresAt}\n${firstSeq}\n${lastSeq}\n${tipSeq}\n`,
    suffix: `\n${turns}\n${events}\n${contentLength}\n${tokens}\n${after.dispatchedSeq}\n${after.waitingSince}${laterLines(text, commit, after.stateBytes)}`,
  };
}

/**
 * The lines from the first one on that a plain append does not change, and the line break before them. Among them, the bytes of
 * state do change if it sets keys.
 */
function laterLines(text: string, { upserts }: Commit, stateBytes: number): string {
  let end = -1;
  for (let line = 0; line < CHANGING_LINES; line++) end = text.indexOf('\n', end + 1);
  const later = text.slice(end);
  if (upserts.length === 0) return later;
  const lines = later.split('\n');
  lines[luaPlaceOf('stateBytes') - CHANGING_LINES] = String(stateBytes);
  return lines.join('\n');
}

/** The arguments of the script for a hint, with the encoded ids of user and session, and the checksum of the event. */
export function hintArguments(
  { before, prefix, suffix }: AppendHint,
  { key, events, usage }: Commit,
  { user, id }: { user: string; id: string },
  checksum: string,
): ScriptArguments {
  const { record, text } = before;
  const { timestamp = 0, anchor = false, group = '' } = events[0] ?? {};
  return [
    text,
    prefix,
    suffix,
    record.lastSeq + 1,
    Math.max(record.highWater, timestamp),
    record.lastUpdateTime,
    key.sessionId,
    `${key.userId}\0${key.sessionId}`,
    checksum,
    anchor ? 1 : 0,
    group === '' ? '' : `\0${group}`,
    id.length,
    user.length + id.length + '|}:session:'.length,
    usage?.models[0] ? usageLine(usage.models[0]) : '',
  ];
}

/** The outcome of an append, and the record as it is stored now. */
export interface WrittenOutcome {
  readonly outcome: Extract<AppendOutcome, { kind: 'appended' }>;
  readonly text: string;
}

/** The outcome of an append whose hint was right, at this time of the store. */
export function hintedOutcome(commit: Commit, { before, prefix, suffix }: AppendHint, now: number): WrittenOutcome {
  const record = recordAfter(commit, before.record, now);
  return {
    outcome: { kind: 'appended', record, now, previousTipSeq: before.record.tipSeq },
    text: `${prefix}${record.highWater}\n${record.lastUpdateTime}${suffix}`,
  };
}

/** How many arguments a hint has. */
export const HINT_ARGUMENTS = 14;
