import { type SessionKey, sessionKeyOf, stateOwnerOf } from '../sessions/domain/values/ids.js';
import { canonicalJson } from '../sessions/domain/values/canonical-json.js';
import type { ComponentStore } from '../sessions/storage/component-store.js';
import type { SessionStorage, StateEntries } from '../sessions/storage/session-storage.js';
import type { PeriodUsage } from '../sessions/storage/transfer-store.js';
import { ComponentTexts } from './component-texts.js';
import { isComponentWanted } from './export-components.js';
import { exportSession, exportShared } from './export-records.js';
import { toComponentNames } from './import-tally.js';
import type { NumberedRecord } from './read-lines.js';
import { isOwnerWanted, isSessionWanted } from './transfer-filter.js';
import {
  type ComponentLine,
  type EndLine,
  type EventLine,
  type SessionLine,
  type StateLine,
  type TransferCounts,
  type TransferFilter,
  type UsageLine,
  NO_TRANSFER,
  countedWith,
} from './transfer-records.js';

/** How many differences a result lists. */
const LISTED_DIFFERENCES = 100;

/** Something that differs between a file and a store. */
export interface TransferDifference {
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** The name of the component. */
  readonly component?: string | undefined;
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

/** A session of the file, and what differs so far. It may turn out to be void. */
interface ComparedSession {
  readonly key: SessionKey;
  readonly problems: string[];
  readonly target: ReturnType<typeof exportSession>;
  events: number;
  isOver: boolean;
}

/** Compares records with a store, session by session and event by event. */
export class RecordComparison {
  #compared = NO_TRANSFER;
  #isEqual = true;
  readonly #differences: TransferDifference[] = [];
  #session: ComparedSession | undefined;
  #component: ComponentTexts | undefined;

  constructor(
    private readonly storage: SessionStorage,
    private readonly filter: TransferFilter,
    private readonly components: ComponentStore | false | undefined = storage.components,
    private readonly shared = true,
  ) {}

  async run(records: AsyncIterable<NumberedRecord>): Promise<VerifyResult> {
    for await (const { line, record } of records) {
      switch (record.kind) {
        case 'session':
          await this.#begin(record);
          break;
        case 'event':
        case 'end':
          await this.#next(record);
          break;
        case 'void':
          await this.#session?.target.return(undefined);
          this.#session = undefined;
          break;
        case 'component':
          await this.#compareComponent(record, line);
          break;
        case 'state':
        case 'usage':
          await this.#shared(record);
          break;
        default:
        // The export has no such session.
      }
    }
    return { isEqual: this.#isEqual, compared: this.#compared, differences: this.#differences };
  }

  get #keepsKeyOrder(): boolean {
    return this.storage.transfer?.keepsKeyOrder ?? true;
  }

  #note(difference: TransferDifference): void {
    this.#isEqual = false;
    if (this.#differences.length < LISTED_DIFFERENCES) this.#differences.push(difference);
  }

  async #begin(line: SessionLine): Promise<void> {
    this.#session = undefined;
    if (!isSessionWanted(line, this.filter)) return;
    const key = sessionKeyOf(line);
    const session: ComparedSession = {
      key,
      problems: [],
      target: exportSession(this.storage, key),
      events: 0,
      isOver: false,
    };
    this.#session = session;
    const { value: first } = await session.target.next();
    if (typeof first !== 'object' || !('kind' in first) || first.kind !== 'session') {
      session.isOver = true;
      session.problems.push('the session is missing');
      return;
    }
    const names = differingNames(line, first, this.#keepsKeyOrder);
    if (names.length > 0) session.problems.push(`the session differs in ${names.join(', ')}`);
  }

  async #next(record: EventLine | EndLine): Promise<void> {
    const session = this.#session;
    if (!session) return;
    if (record.kind === 'event') session.events++;
    if (!session.isOver) await compareNext(session, record);
    if (record.kind === 'event') return;
    this.#session = undefined;
    this.#compared = {
      ...this.#compared,
      sessions: this.#compared.sessions + 1,
      events: this.#compared.events + session.events,
    };
    for (const problem of session.problems) this.#note({ ...session.key, problem });
  }

  /** Digests tell whether any item differs. */
  async #compareComponent(line: ComponentLine, at: number): Promise<void> {
    if (line.from === 0) this.#component = new ComponentTexts(line);
    this.#component?.take(line, at);
    const { session, name, type } = line;
    if (!this.#component?.isComplete || !this.components || !isComponentWanted(session, this.filter)) return;
    this.#compared = { ...this.#compared, components: this.#compared.components + 1 };
    const head = await this.components.read({ session, name, kind: type }, 'head');
    if (head?.length === line.length && head.digest === line.digest) return;
    this.#note({ ...toComponentNames(line), problem: head ? `the ${type} differs` : `the ${type} is missing` });
  }

  async #shared(line: StateLine | UsageLine): Promise<void> {
    const owner = stateOwnerOf(line);
    if (!this.shared || !isOwnerWanted(owner, this.filter)) return;
    this.#compared = countedWith(this.#compared, line);
    const textOf = (shared: StateLine | UsageLine): string => sharedText(shared, this.#keepsKeyOrder);
    for await (const found of exportShared(this.storage, owner)) {
      if (found.kind === line.kind && textOf(found) === textOf(line)) return;
    }
    this.#note({ ...owner, problem: line.kind === 'state' ? 'the state differs' : 'the usage differs' });
  }
}

async function compareNext(session: ComparedSession, record: EventLine | EndLine): Promise<void> {
  const { done, value: found } = await session.target.next();
  if (!done && JSON.stringify(found) === JSON.stringify(record)) return;
  session.isOver = true;
  await session.target.return(undefined);
  const problem = record.kind === 'event' ? `event ${record.seq} differs` : 'the number of events differs';
  session.problems.push(done && typeof found === 'object' ? found.problem : problem);
}

/** The fields whose values differ. */
function differingNames(line: SessionLine, found: SessionLine, keepsKeyOrder: boolean): string[] {
  const [a, b] = [comparable(line, keepsKeyOrder), comparable(found, keepsKeyOrder)];
  return Object.keys(a).filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]));
}

function comparable(
  { state, metadata, usage, ...fields }: SessionLine,
  keepsKeyOrder: boolean,
): Record<string, unknown> {
  return {
    ...fields,
    expiresAt: fields.expiresAt ?? null,
    state: stateText(state, keepsKeyOrder),
    metadata: sortedText(metadata),
    usage: usage.map((sum) => JSON.stringify(sum)).toSorted(),
  };
}

/** No store promises an order of state keys. Inside of values their order counts, unless the store cannot keep it. */
function stateText(entries: StateEntries, keepsKeyOrder: boolean): string {
  if (keepsKeyOrder) return sortedText(entries);
  return sortedText(entries.map(([name, text]) => [name, canonicalJson(JSON.parse(text))]));
}

function sortedText(entries: StateEntries): string {
  return JSON.stringify(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The expiry is left out, since stores have clocks of their own. */
function sharedText(line: StateLine | UsageLine, keepsKeyOrder: boolean): string {
  if (line.kind === 'state') return stateText(line.entries, keepsKeyOrder);
  return JSON.stringify(line.sums.map(periodText).toSorted());
}

function periodText({ period, models }: PeriodUsage): string {
  return `${period} ${models
    .map((sum) => JSON.stringify(sum))
    .toSorted()
    .join(' ')}`;
}
