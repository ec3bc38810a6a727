import { USAGE } from '../config/session-settings.js';
import { DAY_MS, NEVER } from '../sessions/domain/expiry.js';
import { type StateOwner, idProblem, sessionKeyOf } from '../sessions/domain/ids.js';
import { optionalFlag } from '../sessions/domain/input-checks.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import type { TransferStore } from '../sessions/storage/transfer-store.js';
import { type SessionOutcome, SessionImport } from './import-session.js';
import type { ImportOptions, ImportProgress, ImportResult, TransferConflict } from './import-result.js';
import type { NumberedRecord } from './read-lines.js';
import { TransferConflictError, TransferFileError } from '../sessions/domain/transfer-errors.js';
import { withoutTransferError } from '../sessions/domain/unsupported-error.js';
import { checkedFilter, isOwnerWanted, isSessionWanted } from './transfer-filter.js';
import type { SessionLine, StateLine, TransferFilter, UsageLine } from './transfer-records.js';

/** How many conflicts a result lists. */
const LISTED_CONFLICTS = 100;

/** How often progress is reported: after so many records. */
const RECORDS_PER_REPORT = 500;

/** Writes records into a store, one after the other. What is there already stays. */
export class RecordImport {
  readonly #transfer: TransferStore | undefined;
  readonly #filter: TransferFilter;
  readonly #usageKeepMs: number;
  readonly #sessions: Record<SessionOutcome, number> = {
    created: 0,
    continued: 0,
    unchanged: 0,
    expired: 0,
    conflict: 0,
  };
  readonly #conflicts: TransferConflict[] = [];
  #events = 0;
  #states = 0;
  #usages = 0;
  #filteredOut = 0;
  #cursor: number;
  #current: SessionImport | 'filtered' | undefined;

  constructor(
    private readonly storage: SessionStorage,
    private readonly options: ImportOptions = {},
  ) {
    const isDryRun = optionalFlag(options.dryRun, 'dryRun') ?? false;
    if (!isDryRun && !storage.transfer) throw withoutTransferError('take over sessions of another store');
    this.#transfer = isDryRun ? undefined : storage.transfer;
    this.#filter = checkedFilter(options.filter);
    this.#usageKeepMs = (options.usageKeepDays ?? USAGE.keepDays.default) * DAY_MS;
    this.#cursor = options.cursor ?? 0;
  }

  async run(records: AsyncIterable<NumberedRecord>): Promise<ImportResult> {
    const { onProgress, signal } = this.options;
    let sinceReport = 0;
    for await (const numbered of records) {
      signal?.throwIfAborted();
      await this.#take(numbered);
      if (++sinceReport < RECORDS_PER_REPORT) continue;
      sinceReport = 0;
      onProgress?.(this.#progress(numbered.line));
    }
    if (this.#current) throw new TransferFileError('the end of a session is missing');
    onProgress?.(this.#progress(this.#cursor));
    return { ...this.#counts(), cursor: this.#cursor, conflicts: this.#conflicts };
  }

  #counts(): Omit<ImportResult, 'cursor' | 'conflicts'> {
    const { conflict, ...sessions } = this.#sessions;
    return {
      sessions: { ...sessions, conflicting: conflict, filtered: this.#filteredOut },
      events: this.#events,
      states: this.#states,
      usages: this.#usages,
    };
  }

  #progress(line: number): ImportProgress {
    return { line, cursor: this.#cursor, ...this.#counts() };
  }

  async #take({ line, record }: NumberedRecord): Promise<void> {
    if (record.kind === 'session') {
      await this.#beginSession(record, line);
      return;
    }
    if (record.kind === 'event' || record.kind === 'end') {
      const current = this.#current;
      if (!current) throw new TransferFileError('it belongs to no session', line);
      if (record.kind === 'event') {
        if (current !== 'filtered') await current.event(record, line);
        return;
      }
      if (current !== 'filtered') this.#note(current, await current.end(record, line));
      this.#current = undefined;
    } else {
      this.#assertBetweenSessions(line);
      assertIds(ownerOf(record), line);
      if (record.kind === 'state') await this.#state(record);
      else await this.#usage(record);
    }
    this.#cursor = line;
  }

  async #beginSession(session: SessionLine, line: number): Promise<void> {
    this.#assertBetweenSessions(line);
    assertIds(sessionKeyOf(session), line);
    if (!isSessionWanted(session, this.#filter)) {
      this.#filteredOut++;
      this.#current = 'filtered';
      return;
    }
    const now = session.expiresAt === undefined ? 0 : await this.#now(session.appName);
    const { storage } = this;
    const replaces = this.options.onConflict === 'replace';
    const options = { storage, transfer: this.#transfer, usageKeepMs: this.#usageKeepMs, replaces };
    this.#current = await SessionImport.begin(session, now, options);
  }

  #assertBetweenSessions(line: number): void {
    if (this.#current) throw new TransferFileError('the session before it has no end', line);
  }

  #note(session: SessionImport, outcome: SessionOutcome): void {
    this.#sessions[outcome]++;
    this.#events += session.added;
    const { problem, key } = session;
    if (outcome !== 'conflict' || !problem) return;
    if (this.options.onConflict !== 'skip') throw new TransferConflictError(key.sessionId, problem.text);
    if (this.#conflicts.length < LISTED_CONFLICTS) this.#conflicts.push({ ...key, problem: problem.text });
  }

  /** Keys that the target has keep their values. */
  async #state(line: StateLine): Promise<void> {
    const { entries, expiresAt = NEVER, appName, userId } = line;
    const owner = ownerOf(line);
    if (!isOwnerWanted(owner, this.#filter)) return;
    const ttlMs = expiresAt < NEVER ? expiresAt - (await this.#now(appName)) : NEVER;
    if (ttlMs <= 0) return;
    const stored = new Set((await this.storage.readState(owner)).map(([name]) => name));
    const missing = entries.filter(([name]) => !stored.has(name));
    if (missing.length === 0) return;
    this.#states++;
    const scope = userId === undefined ? 'app' : 'user';
    const upserts = missing.map(([name, value]) => ({ scope, name, value }) as const);
    if (this.#transfer)
      await this.storage.writeState({ owner, upserts, removals: [], lifetime: { ttlMs, renewBelowMs: 0 } });
  }

  async #usage(line: UsageLine): Promise<void> {
    const { sums } = line;
    const owner = ownerOf(line);
    if (!isOwnerWanted(owner, this.#filter)) return;
    const keepMs = this.#usageKeepMs;
    const isNew = this.#transfer
      ? await this.#transfer.restoreUsage({ owner, sums, keepMs })
      : await this.#hasNoUsage(owner);
    if (isNew) this.#usages++;
  }

  async #hasNoUsage(owner: { appName: string; userId?: string }): Promise<boolean> {
    const { found } = await this.storage.readUsage([{ ...owner, period: 'total' }]);
    return (found[0] ?? []).length === 0;
  }

  /** The store's time. */
  async #now(appName: string): Promise<number> {
    return (await this.storage.readUsage([{ appName, period: 'total' }])).now;
  }
}

function ownerOf({ appName, userId }: StateOwner): StateOwner {
  return userId === undefined ? { appName } : { appName, userId };
}

/** Ids of other systems may be none here. Nobody could read what had them. */
function assertIds(ids: object, line: number): void {
  for (const [name, id] of Object.entries(ids)) {
    const problem = idProblem(id);
    if (problem) throw new TransferFileError(`\`${name}\` ${problem}: ${JSON.stringify(ids).slice(0, 1_000)}`, line);
  }
}
