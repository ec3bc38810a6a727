import { type SessionKey, type StateOwner, sessionKeyOf } from '../sessions/domain/ids.js';
import type { SessionStorage, StateEntries } from '../sessions/storage/session-storage.js';
import type { PeriodUsage } from '../sessions/storage/transfer-store.js';
import { exportSession, exportShared } from './export-records.js';
import type { NumberedRecord } from './read-lines.js';
import { isOwnerWanted, isSessionWanted } from './transfer-filter.js';
import {
  type SessionLine,
  type StateLine,
  type TransferCounts,
  type TransferFilter,
  type TransferRecord,
  type UsageLine,
  NO_TRANSFER,
  countedWith,
} from './transfer-records.js';

/** How many differences a result lists. */
const LISTED_DIFFERENCES = 100;

/** Something that differs between a file and a store. */
export interface TransferDifference extends StateOwner {
  readonly sessionId?: string | undefined;
  readonly problem: string;
}

/** The comparison of a file with a store. */
export interface VerifyResult {
  readonly isEqual: boolean;
  /** What was compared. */
  readonly compared: TransferCounts;
  /** The first 100. */
  readonly differences: readonly TransferDifference[];
}

/** Compares records with a store, session by session and event by event. */
export class RecordComparison {
  #compared = NO_TRANSFER;
  #isEqual = true;
  readonly #differences: TransferDifference[] = [];
  #session: { readonly key: SessionKey; readonly target: AsyncGenerator<TransferRecord>; isOver: boolean } | undefined;

  constructor(
    private readonly storage: SessionStorage,
    private readonly filter: TransferFilter,
  ) {}

  async run(records: AsyncIterable<NumberedRecord>): Promise<VerifyResult> {
    for await (const { record } of records) {
      if (record.kind === 'session') await this.#begin(record);
      else if (record.kind === 'event' || record.kind === 'end') await this.#next(record);
      else await this.#shared(record);
    }
    return { isEqual: this.#isEqual, compared: this.#compared, differences: this.#differences };
  }

  #note(owner: StateOwner & { readonly sessionId?: string }, problem: string): void {
    this.#isEqual = false;
    if (this.#differences.length < LISTED_DIFFERENCES) this.#differences.push({ ...owner, problem });
  }

  async #begin(line: SessionLine): Promise<void> {
    this.#session = undefined;
    if (!isSessionWanted(line, this.filter)) return;
    this.#compared = countedWith(this.#compared, line);
    const key = sessionKeyOf(line);
    const target = exportSession(this.storage, key);
    const first = await target.next();
    if (first.done || first.value.kind !== 'session') {
      this.#note(key, 'the session is missing');
      return;
    }
    const names = differingNames(line, first.value);
    if (names.length > 0) this.#note(key, `the session differs in ${names.join(', ')}`);
    this.#session = { key, target, isOver: false };
  }

  async #next(record: TransferRecord): Promise<void> {
    const session = this.#session;
    if (!session || session.isOver) return;
    if (record.kind === 'event') this.#compared = countedWith(this.#compared, record);
    const { value: found } = await session.target.next();
    if (JSON.stringify(found) === JSON.stringify(record)) return;
    session.isOver = true;
    await session.target.return(undefined);
    this.#note(session.key, record.kind === 'event' ? `event ${record.seq} differs` : 'the number of events differs');
  }

  async #shared(line: StateLine | UsageLine): Promise<void> {
    const { appName, userId } = line;
    const owner = userId === undefined ? { appName } : { appName, userId };
    if (!isOwnerWanted(owner, this.filter)) return;
    this.#compared = countedWith(this.#compared, line);
    for await (const found of exportShared(this.storage, owner)) {
      if (found.kind === line.kind && sharedText(found) === sharedText(line)) return;
    }
    this.#note(owner, line.kind === 'state' ? 'the state differs' : 'the usage differs');
  }
}

/** The fields whose values differ. No store promises an order of state keys. */
function differingNames(line: SessionLine, found: SessionLine): string[] {
  const [a, b] = [comparable(line), comparable(found)];
  return Object.keys(a).filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]));
}

function comparable({ state, metadata, usage, ...fields }: SessionLine): Record<string, unknown> {
  return {
    ...fields,
    expiresAt: fields.expiresAt ?? null,
    state: sortedText(state),
    metadata: sortedText(metadata),
    usage: usage.map((sum) => JSON.stringify(sum)).toSorted(),
  };
}

function sortedText(entries: StateEntries): string {
  return JSON.stringify(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The expiry is left out, since stores have clocks of their own. */
function sharedText(line: StateLine | UsageLine): string {
  if (line.kind === 'state') return sortedText(line.entries);
  return JSON.stringify(line.sums.map(periodText).toSorted());
}

function periodText({ period, models }: PeriodUsage): string {
  return `${period} ${models
    .map((sum) => JSON.stringify(sum))
    .toSorted()
    .join(' ')}`;
}
