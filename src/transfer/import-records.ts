import { Holds } from '../sessions/retention/holds.js';
import { LIMITS, USAGE } from '../config/session-settings.js';
import { DAY_MS } from '../sessions/domain/values/expiry.js';
import { type SessionKey, idProblem, scopeOfOwner, sessionKeyOf, stateOwnerOf } from '../sessions/domain/values/ids.js';
import { checkedSettings, optionalFlag } from '../sessions/domain/values/input-checks.js';
import {
  type StateLimits,
  type StateSize,
  excessText,
  readExcess,
  stateLimitsOf,
} from '../sessions/domain/stored/state-size.js';
import { TransferConflictError, TransferFileError } from './transfer-errors.js';
import { UnsupportedByStoreError, withoutTransferError } from '../sessions/domain/errors/unsupported-error.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import type { TransferStore } from '../sessions/storage/transfer-store.js';
import type { StoredScope } from '../state/scopes.js';
import { isComponentWanted } from './export-components.js';
import { ComponentImport } from './import-component.js';
import type { ImportOptions, ImportProgress, ImportResult } from './import-result.js';
import { SessionImport } from './import-session.js';
import { SharedImport } from './import-shared.js';
import { ImportTally, toComponentNames } from './import-tally.js';
import type { NumberedRecord } from './read-lines.js';
import { checkedFilter, isOwnerWanted, isSessionWanted } from './transfer-filter.js';
import type {
  BadLine,
  ComponentLine,
  EndLine,
  EventLine,
  SessionLine,
  StateLine,
  TransferFilter,
  UsageLine,
} from './transfer-records.js';

/** How often progress is reported: after so many records. */
const RECORDS_PER_REPORT = 500;

/** Writes records into a store, one after the other. What is there already stays. */
export class RecordImport {
  readonly #transfer: TransferStore | undefined;
  readonly #filter: TransferFilter;
  readonly #usageKeepMs: number;
  readonly #shared: SharedImport;
  readonly #stateLimits: StateLimits;
  readonly #tally = new ImportTally();
  #cursor: number;
  /** Whose events come. Those of a session that is left out are passed over. */
  #session: SessionImport | 'left out' | undefined;
  #component:
    { readonly first: ComponentLine; readonly work: ComponentImport | 'left out'; length: number } | undefined;

  constructor(
    private readonly storage: SessionStorage,
    private readonly options: ImportOptions = {},
    private readonly holds = new Holds(storage),
  ) {
    const isDryRun = optionalFlag(options.dryRun, 'dryRun') ?? false;
    if (!isDryRun && !storage.transfer) throw withoutTransferError('take over sessions of another store');
    this.#transfer = isDryRun ? undefined : storage.transfer;
    this.#filter = checkedFilter(options.filter);
    this.#stateLimits = stateLimitsOf(checkedSettings(LIMITS, options.limits, 'limits'));
    this.#usageKeepMs = (options.usageKeepDays ?? USAGE.keepDays.default) * DAY_MS;
    this.#shared = new SharedImport(storage, this.#transfer, this.#usageKeepMs);
    this.#cursor = options.cursor ?? 0;
  }

  async run(records: AsyncIterable<NumberedRecord>): Promise<ImportResult> {
    const { onProgress, signal } = this.options;
    let sinceReport = 0;
    for await (const numbered of records) {
      signal?.throwIfAborted();
      await this.#takeOrReport(numbered);
      if (++sinceReport < RECORDS_PER_REPORT) continue;
      sinceReport = 0;
      onProgress?.(this.#progress(numbered.line));
    }
    if (this.#isOpen) await this.#bad(new TransferFileError('the end of a session or a component is missing'));
    onProgress?.(this.#progress(this.#cursor));
    return this.#tally.result(this.#cursor);
  }

  #progress(line: number): ImportProgress {
    return { line, cursor: this.#cursor, ...this.#tally.counts() };
  }

  /** Whether more of a session or a component must come. */
  get #isOpen(): boolean {
    return this.#session instanceof SessionImport || this.#component?.work instanceof ComponentImport;
  }

  async #takeOrReport(numbered: NumberedRecord): Promise<void> {
    try {
      await this.#take(numbered);
    } catch (error) {
      if (!(error instanceof TransferFileError)) throw error;
      const { record } = numbered;
      const isBeginning = record.kind === 'session' || (record.kind === 'component' && record.from === 0);
      const isOther = this.#isOpen && isBeginning;
      await this.#bad(error);
      // The one before it had no end, and this one may be whole.
      if (isOther) await this.#takeOrReport(numbered);
    }
  }

  /** Leaves out the session or the component at hand, or ends the import. */
  async #bad(error: TransferFileError): Promise<void> {
    const { onBad = 'fail' } = this.options;
    const [session, component] = [this.#session, this.#component];
    if (onBad !== 'skip') throw error;
    const names = {
      ...(session instanceof SessionImport && session.key),
      ...error.session,
      ...(component && toComponentNames(component.first)),
    };
    const isShared = error.session.appName !== undefined && error.session.sessionId === undefined;
    const isKnown = session === 'left out' && error.session.appName === undefined;
    this.#component = component && { ...component, work: 'left out' };
    this.#session = isShared ? undefined : 'left out';
    if (session instanceof SessionImport) await session.discard();
    if (!isKnown) this.#tally.bad({ ...names, line: error.line, problem: error.problem });
  }

  async #take({ line, record }: NumberedRecord): Promise<void> {
    switch (record.kind) {
      case 'session':
        return this.#beginSession(record, line);
      case 'event':
      case 'end':
        return this.#continueSession(record, line);
      case 'void':
        if (this.#session instanceof SessionImport) await this.#session.discard();
        this.#session = undefined;
        break;
      case 'skipped':
        if (record.reason !== 'deleted' && isSessionWanted(record, this.#filter)) this.#tally.session('missing');
        break;
      case 'bad':
        throw badRecord(record, line);
      case 'component':
        return this.#takeComponent(record, line);
      default:
        await this.#takeShared(record, line);
    }
    this.#cursor = line;
  }

  async #beginSession(session: SessionLine, line: number): Promise<void> {
    this.#assertBetween(line);
    const key = sessionKeyOf(session);
    this.#session = 'left out';
    assertIds(key, line);
    if (!isSessionWanted(session, this.#filter)) {
      this.#tally.session('filtered');
      return;
    }
    const { storage, holds } = this;
    const replaces = this.options.onConflict === 'replace';
    const options = { storage, holds, transfer: this.#transfer, replaces };
    this.#session = await SessionImport.begin(session, options);
  }

  async #continueSession(record: EventLine | EndLine, line: number): Promise<void> {
    const session = this.#session;
    if (!session) throw new TransferFileError('it belongs to no session', line);
    if (record.kind === 'event') {
      if (session instanceof SessionImport) await session.event(record, line);
      return;
    }
    if (session instanceof SessionImport) await this.#endSession(session, record, line);
    this.#session = undefined;
    this.#cursor = line;
  }

  async #endSession(session: SessionImport, end: EndLine, line: number): Promise<void> {
    const outcome = await session.end(end, line);
    this.#tally.session(outcome);
    this.#tally.events += session.added;
    if (outcome === 'created' || outcome === 'continued') this.#noteSize(session.key, 'session', session.stateSize);
    if (outcome === 'conflict') this.#conflict(session.key, session.problem?.text ?? '');
  }

  #conflict(key: Partial<SessionKey> & { readonly sessionId: string }, problem: string): void {
    if (this.options.onConflict !== 'skip') throw new TransferConflictError(key.sessionId, problem);
    this.#tally.conflict({ ...key, problem });
  }

  async #takeShared(record: StateLine | UsageLine, line: number): Promise<void> {
    this.#assertBetween(line);
    this.#session = undefined;
    const owner = stateOwnerOf(record);
    assertIds(owner, line);
    if (!isOwnerWanted(owner, this.#filter)) return;
    if (!this.#takesShared()) this.#tally.omission({ ...owner, problem: `its ${record.kind} was left out` });
    else if (record.kind === 'usage') this.#tally.usages += (await this.#shared.usage(record)) ? 1 : 0;
    else {
      const size = await this.#shared.state(record);
      if (!size) return;
      this.#tally.states++;
      this.#noteSize(owner, scopeOfOwner(owner), size);
    }
  }

  /** It is imported all the same: a restore must not fail. */
  #noteSize(owner: Partial<SessionKey>, scope: StoredScope, size: StateSize): void {
    const excess = readExcess(scope, size, this.#stateLimits);
    if (excess) this.#tally.excess({ ...owner, problem: excessText(excess) });
  }

  #takesShared(): boolean {
    if (this.options.shared === false) return false;
    if (this.storage.transfer?.keepsShared !== false) return true;
    throw new UnsupportedByStoreError(
      'The target keeps no state and no usage of users and apps: give `shared: false` to leave them out.',
    );
  }

  async #takeComponent(record: ComponentLine, line: number): Promise<void> {
    if (record.from === 0) await this.#beginComponent(record, line);
    const component = this.#component;
    if (!component) throw new TransferFileError('a part of a component is missing before it', line);
    const { work } = component;
    if (work instanceof ComponentImport) await work.take(record, line);
    component.length += record.items.length;
    const isComplete = work instanceof ComponentImport ? work.isComplete : component.length >= record.length;
    if (!isComplete) return;
    this.#component = undefined;
    this.#cursor = line;
    if (!(work instanceof ComponentImport)) return;
    const outcome = work.end();
    this.#tally.component(outcome);
    const names = toComponentNames(record);
    if (outcome === 'conflict') this.#conflict(names, `its component ${JSON.stringify(names.component)} differs`);
  }

  async #beginComponent(record: ComponentLine, line: number): Promise<void> {
    this.#assertBetween(line);
    this.#session = undefined;
    const store = isComponentWanted(record.session, this.#filter) ? this.#componentStore() : undefined;
    if (!store) this.#tally.component('filtered');
    const options = { holds: this.holds, isDryRun: !this.#transfer, replaces: this.options.onConflict === 'replace' };
    const work = store && (await ComponentImport.begin(record, { store, ...options }));
    this.#component = { first: record, work: work ?? 'left out', length: 0 };
  }

  #componentStore(): ComponentStore | undefined {
    const store = this.options.components ?? this.storage.components;
    if (store === false) return undefined;
    if (store) return store;
    throw new UnsupportedByStoreError(
      'The target keeps no component state: give `components`, a store for it, or `components: false` to leave it out.',
    );
  }

  #assertBetween(line: number): void {
    if (this.#isOpen) throw new TransferFileError('the session or the component before it has no end', line);
  }
}

/** Ids of other systems may be none here. Nobody could read what had them. */
function assertIds(ids: Partial<SessionKey>, line: number): void {
  for (const [name, id] of Object.entries(ids)) {
    const problem = idProblem(id);
    if (problem) throw new TransferFileError(`\`${name}\` ${problem}`, line, ids);
  }
}

function badRecord({ kind: _kind, problem, ...ids }: BadLine, line: number): TransferFileError {
  return new TransferFileError(problem, line, ids);
}
