import { randomUUID } from 'node:crypto';
import {
  createUnlessThere,
  inCommits,
  isRewind,
  isSessionChanged,
  readPages,
  retryOvertaken,
  retryUnknown,
} from '../../adapter.js';
import {
  type EventInput,
  type EventPage,
  type LoggedEvent,
  type Session,
  type SessionKey,
  SessionNotFoundError,
  type SessionService,
  StaleSessionError,
  type TurnReference,
} from '../../index.js';
import { type Entry, itemHistory } from './item-history.js';
import { StaleHistoryError } from './session-errors.js';

/** The history of a session, or its newest part. */
export interface ReadHistory {
  readonly session: Session;
  /** Of the view, without gaps up to its end. */
  readonly events: readonly LoggedEvent[];
  readonly entries: readonly Entry[];
}

/** A change of the history: events that replace everything after a place, all in one commit. */
export interface HistoryChange {
  /** Missing: nothing is taken back. */
  readonly rewindTo?: number | 'beginning' | undefined;
  readonly events: readonly EventInput[];
}

/** Events that say nothing to the model, such as changes of state, are read as well. */
const SPARE = 8;
const LONGEST_TAIL = 10_000;
const LONGEST_PAGE = 1_000;

/** Reads and writes the log of a session as a history of items. */
export class SessionHistory {
  /** Whether the session was there: then it is not created again. */
  #wasThere = false;

  constructor(
    readonly service: SessionService,
    readonly key: SessionKey,
    private readonly turn: TurnReference | undefined,
  ) {}

  /** @param wanted read only as many events as these newest items need */
  async read(wanted = Infinity): Promise<ReadHistory | undefined> {
    let tail = wanted + SPARE;
    for (;;) {
      const isTail = tail <= LONGEST_TAIL;
      const config = isTail ? { numRecentEvents: tail } : undefined;
      const session = await this.service.getSession({ ...this.key, config });
      if (!session) return undefined;
      this.#wasThere = true;
      const { events } = session;
      const { entries, certain } = itemHistory(events);
      if (!isTail || events.length < tail || certain >= wanted) return { session, events, entries };
      tail *= 4;
    }
  }

  /** A new conversation may begin where the session was. */
  begin(): void {
    this.#wasThere = false;
  }

  /** Without events. Creates the session if there was none. */
  async session(): Promise<Session> {
    return (await this.#stored()) ?? this.#created();
  }

  /** The newest events of the log, newest first, also those that were taken back. */
  async newest(limit: number): Promise<readonly LoggedEvent[]> {
    try {
      return (await this.service.listEvents({ ...this.key, limit, order: 'desc' })).events;
    } catch (error) {
      if (error instanceof SessionNotFoundError) return [];
      throw error;
    }
  }

  /** Appends events, in one commit if they fit into one. Creates the session if there was none. */
  async append(events: readonly EventInput[]): Promise<void> {
    const { sessionId: id, appName, userId } = this.key;
    for (const batch of inCommits(events.map(withId))) {
      try {
        await this.#commit({ id, appName, userId }, batch);
      } catch (error) {
        if (!(error instanceof SessionNotFoundError)) throw error;
        await this.#commit(await this.#created(), batch);
      }
    }
  }

  /**
   * Appends pieces that count only with the last one: in one commit, or the last one after all others.
   *
   * @param readVersion of the history from which the pieces were made
   * @throws StaleHistoryError if anything was taken back since then
   */
  async appendPieces(pieces: readonly EventInput[], last: EventInput, readVersion: number): Promise<void> {
    const batches = inCommits([...pieces, last].map(withId));
    const end = batches.pop() ?? [];
    const earlier = batches.flat();
    if (earlier.length > 0) {
      await this.#sessionWith([], readVersion);
      await this.append(earlier);
    }
    await this.change(async () => {
      const at = await this.#sessionWith(earlier, readVersion);
      return { at, change: { events: end }, result: undefined };
    });
  }

  /** Changes the history as it is now. If somebody else was faster, the change is planned again. */
  async change<Result>(
    plan: () => Promise<{ readonly at?: Session; readonly change?: HistoryChange; readonly result: Result }>,
  ): Promise<Result> {
    return retryOvertaken(async () => {
      const { at, change, result } = await plan();
      if (at && change) await this.#commit(at, (await this.#eventsOf(change)).map(withId), at.version);
      return result;
    }, isSessionChanged);
  }

  /** Changes a history that nobody else knows yet, in as many commits as it takes. */
  async changeAlone(change: HistoryChange): Promise<void> {
    await this.append(await this.#eventsOf(change));
  }

  async #eventsOf({ rewindTo, events }: HistoryChange): Promise<EventInput[]> {
    const toSeq = rewindTo === 'beginning' ? (await this.bounds()).firstSeq - 1 : rewindTo;
    return [...(toSeq === undefined ? [] : [rewindEvent(toSeq)]), ...events];
  }

  /** Takes everything back. State and log stay. */
  async clear(change: EventInput['actions']): Promise<void> {
    const { sessionId: id, appName, userId } = this.key;
    try {
      const { firstSeq, lastSeq } = await this.bounds();
      if (lastSeq === 0) return;
      await this.#commit({ id, appName, userId }, [withId(rewindEvent(firstSeq - 1, change))]);
    } catch (error) {
      // There is nothing to take back.
      if (!(error instanceof SessionNotFoundError)) throw error;
    }
  }

  /** Whether these events were appended before, with the same content. */
  async has(session: Session, events: readonly EventInput[]): Promise<boolean> {
    try {
      // No log is that long, so that nothing is stored now.
      await this.service.appendEvents({
        session: referenceTo(session),
        events,
        expectedVersion: NEVER_REACHED,
        turn: this.turn,
      });
      return true;
    } catch (error) {
      if (error instanceof StaleSessionError) return false;
      throw error;
    }
  }

  /** The session, if its log has all of these events since a version, and no rewind. */
  async #sessionWith(events: readonly EventInput[], sinceVersion: number): Promise<Session> {
    const session = sinceVersion === 0 ? await this.session() : await this.#stored();
    // A lower version is of another session, since this one was deleted.
    const isSame = session !== undefined && session.version >= sinceVersion;
    if (isSame && (await this.#isWhole(events, sinceVersion))) return session;
    throw new StaleHistoryError(this.key.sessionId);
  }

  async #isWhole(events: readonly EventInput[], afterSeq: number): Promise<boolean> {
    const missing = new Set(events.map(({ id = '' }) => id));
    const request = { ...this.key, afterSeq, limit: LONGEST_PAGE };
    for await (const page of readPages((cursor) => this.service.listEvents({ ...request, cursor }))) {
      for (const event of page.events) {
        if (isRewind(event)) return false;
        missing.delete(event.id);
      }
    }
    return missing.size === 0;
  }

  async #commit(
    session: Session | ReturnType<typeof referenceTo>,
    events: readonly EventInput[],
    expectedVersion?: number,
  ): Promise<void> {
    const request = { session: referenceTo(session), events, expectedVersion, turn: this.turn };
    await retryUnknown(async () => this.service.appendEvents(request));
    this.#wasThere = true;
  }

  /** Where the log begins and ends. */
  async bounds(): Promise<EventPage> {
    return this.service.listEvents({ ...this.key, limit: 1 });
  }

  async #stored(): Promise<Session | undefined> {
    const session = await this.service.getSession({ ...this.key, config: { numRecentEvents: 0 } });
    this.#wasThere ||= session !== undefined;
    return session;
  }

  async #created(): Promise<Session> {
    if (this.#wasThere) throw new SessionNotFoundError(this.key.sessionId);
    return (await createUnlessThere(this.service, this.key)) ?? this.session();
  }
}

const NEVER_REACHED = 2 ** 52;

function referenceTo({
  id,
  appName,
  userId,
}: {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
}): {
  id: string;
  appName: string;
  userId: string;
} {
  return { id, appName, userId };
}

/** It changes only the view: the state stays, since items have nothing to do with it. */
function rewindEvent(toSeq: number, actions: EventInput['actions'] = {}): EventInput {
  return { author: 'system', actions: { ...actions, rewind: { toSeq } } };
}

/** So that it can be sent again. */
function withId(event: EventInput): EventInput {
  return event.id === undefined ? { id: randomUUID(), ...event } : event;
}
