import { createHash } from 'node:crypto';
import { DEFAULT_TTL } from '../config/session-settings.js';
import { NEVER, isExpired, lifetimesOf } from '../sessions/domain/values/expiry.js';
import { sessionKeyOf } from '../sessions/domain/values/ids.js';
import type { Holds } from '../sessions/retention/holds.js';
import { metadataAfter } from '../sessions/domain/metadata/metadata-entries.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { type StateSize, countedSize } from '../sessions/domain/stored/state-size.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import type { TransferStore } from '../sessions/storage/transfer-store.js';
import { loggedEvent } from '../sessions/domain/stored/stored-json.js';
import { storeTime } from './import-shared.js';
import { TargetSession } from './target-session.js';
import { StoreUnavailableError } from '../sessions/domain/errors/errors.js';
import { TransferFileError } from './transfer-errors.js';
import type { EndLine, EventLine, SessionLine } from './transfer-records.js';

const FOREVER = lifetimesOf(DEFAULT_TTL);

/** What an import did to a session. */
export type SessionOutcome = 'created' | 'continued' | 'unchanged' | 'expired' | 'conflict';

interface Options {
  readonly storage: SessionStorage;
  readonly holds: Holds;
  /** Undefined if nothing is to be written. */
  readonly transfer: TransferStore | undefined;
  /** Whether sessions of the target that differ are deleted before. */
  readonly replaces: boolean;
}

/** Takes a session, then its events, then its end. */
export class SessionImport {
  readonly #digest = createHash('sha256');
  /** Of the events that come: stores differ in what they do with two of one id. */
  readonly #ids = new Set<string>();
  #events = 0;
  added = 0;
  /** Why the session in the target is another one. */
  problem: { readonly text: string; readonly seq?: number } | undefined;

  private constructor(
    private readonly line: SessionLine,
    private readonly options: Options,
    /** Undefined if the session has expired, and for a new session if nothing is written. */
    private readonly target: TargetSession | undefined,
    private readonly beginning: SessionOutcome,
  ) {}

  static async begin(line: SessionLine, options: Options): Promise<SessionImport> {
    const { storage, holds, transfer, replaces } = options;
    const begun = (outcome: SessionOutcome, record?: SessionRecord): SessionImport =>
      new SessionImport(line, options, record && new TargetSession(storage, transfer, record), outcome);
    if (await hasExpired(storage, line)) return begun('expired');
    const key = sessionKeyOf(line);
    let found = (await storage.read({ key }))?.record;
    const problem = found && difference(line, found);
    if (problem && replaces) {
      if (transfer) await holds.deleteUnlessHeld({ ...key, incarnation: found?.incarnation });
      else await holds.assertFree(key);
      found = undefined;
    }
    if (!found && !transfer) return begun('created');
    if (!found) {
      const created = await create(storage, line);
      if (created) return begun('created', created.record);
      // Another import has created it in the meantime.
      found = (await storage.read({ key }))?.record;
      if (!found && !(await hasExpired(storage, line))) {
        throw new StoreUnavailableError('The id belongs to a session that is not complete yet; try again.', false);
      }
      if (!found) return begun('expired');
    }
    const session = begun('unchanged', found);
    if (problem) session.problem = { text: problem };
    return session;
  }

  async event(line: EventLine, at: number): Promise<void> {
    if (line.seq !== this.line.firstSeq + this.#events) throw new TransferFileError('`seq` is not the next number', at);
    this.#events++;
    this.#digest.update(line.payload).update('\n');
    if (this.problem || this.beginning === 'expired') return;
    const checkId = (id: string): void => this.#addId(id, at);
    if (!this.target) checkId(loggedEvent(line).id);
    const outcome = this.target ? await this.target.take(line, checkId) : 'added';
    if (outcome === 'added') this.added++;
    if (outcome === 'differs') this.problem = { text: `its event ${line.seq} is another one`, seq: line.seq };
  }

  async end({ events, digest }: EndLine, at: number): Promise<SessionOutcome> {
    if (events !== this.#events || digest !== this.#digest.digest('hex') || this.line.lastSeq !== this.#lastSeq) {
      throw new TransferFileError('the events of the session are incomplete or were changed', at);
    }
    if (this.problem) return 'conflict';
    if (this.target && !(await this.target.flush())) {
      this.problem = { text: 'it got other events in the meantime' };
      return 'conflict';
    }
    if (this.beginning === 'expired') return 'expired';
    if (this.target && this.options.transfer) await this.options.holds.confirm(this.key, this.line.metadata);
    if (this.beginning === 'created') return 'created';
    return this.added > 0 ? 'continued' : 'unchanged';
  }

  /** Removes what this import, or an earlier one, has written of the session, which did not come as a whole. */
  async discard(): Promise<void> {
    const { target, line, options } = this;
    if (!options.transfer || !target || this.problem) return;
    if (this.beginning === 'created' || target.lastSeq < line.lastSeq) await target.remove();
  }

  /** The size of its own state, as it came. */
  get stateSize(): StateSize {
    return countedSize(this.line.state);
  }

  get key(): { appName: string; userId: string; sessionId: string } {
    return sessionKeyOf(this.line);
  }

  get #lastSeq(): number {
    return this.line.firstSeq - 1 + this.#events;
  }

  #addId(id: string, at: number): void {
    if (this.#ids.has(id)) throw new TransferFileError('the session has another event of this id', at);
    this.#ids.add(id);
  }
}

async function hasExpired(storage: SessionStorage, line: SessionLine): Promise<boolean> {
  return line.expiresAt !== undefined && isExpired(line.expiresAt, await storeTime(storage, sessionKeyOf(line)));
}

/** Why the session in the target is not this one, or not the beginning of this one that an import has left. */
function difference(line: SessionLine, found: SessionRecord): string | undefined {
  if (found.createTime !== line.createTime) return 'it was created at another time';
  if (found.lastSeq >= line.lastSeq) return undefined;
  const isOfThisExport =
    found.tipSeq === line.tipSeq && found.marksSeq === line.marksSeq && found.lastUpdateTime === line.lastUpdateTime;
  return isOfThisExport ? undefined : 'it is an older copy';
}

function create(storage: SessionStorage, line: SessionLine): ReturnType<SessionStorage['create']> {
  const { createTime, lastUpdateTime, expiresAt = NEVER, firstSeq, tipSeq, counters, marks, marksSeq } = line;
  const metadata = metadataAfter('', line.metadata);
  if (metadata === undefined)
    throw new TransferFileError(`session ${JSON.stringify(line.sessionId)} has too much metadata`);
  return storage.create({
    key: sessionKeyOf(line),
    baseState: line.baseState,
    upserts: line.state.map(([name, value]) => ({ scope: 'session', name, value })),
    expiry: FOREVER,
    metadata,
    turnsOnly: line.turnsOnly,
    log: {
      events: [],
      tipSeq,
      counters,
      marks,
      marksSeq,
      origin: { createTime, lastUpdateTime, expiresAt, firstSeq, usage: line.usage },
    },
  });
}
