import { randomUUID } from 'node:crypto';
import { retryUnknown } from '../../domain/process/retry-overtaken.js';
import type { NumberedEvent } from '../../domain/stored/session-record.js';
import type { LoadedSession } from './load-session.js';
import { sentEvent } from './sent-event.js';
import { type ReadEvent, type Stamp, readEvent } from './stamped-event.js';
import type { VertexConnection } from './vertex-connection.js';
import { VertexError, refusalError } from './vertex-error.js';

const NOT_FOUND = 404;

/** Sends the events of a commit, in their order. */
export class EventSender {
  /** The place of the last event that was sent. */
  micros: number;

  constructor(
    private readonly connection: VertexConnection,
    private readonly target: Pick<LoadedSession, 'api' | 'id' | 'now'> & {
      readonly replica?: LoadedSession['replica'];
    },
  ) {
    this.micros = target.replica?.lastMicros ?? 0;
  }

  /** The state goes with the last event, with which all of them count. Returns `false` if the session is gone. */
  async sendAll(events: readonly NumberedEvent[], stateDelta: Readonly<Record<string, unknown>>): Promise<boolean> {
    const batchId = randomUUID();
    for (const [index, event] of events.entries()) {
      const batch = events.length > 1 ? { id: batchId, index, size: events.length } : undefined;
      const delta = index === events.length - 1 ? stateDelta : {};
      if (!(await this.send({ ...event, batch }, delta))) return false;
    }
    return true;
  }

  /** @param time its place in the log of the service, unless that is before the last event */
  async send(
    stamp: Stamp,
    stateDelta: Readonly<Record<string, unknown>>,
    time: number = this.target.now,
  ): Promise<boolean> {
    // The API orders events by time, so no two have the same one.
    this.micros = Math.max(time * 1000, this.micros + 1);
    const deadline = Date.now() + this.connection.timeLimitMs;
    /** The loss of an answer, after which the event was looked for and was not there. Sent twice, it would be twice in the log. */
    let lost: unknown;
    const post = async (): Promise<boolean> => {
      try {
        return await this.#post(stamp, stateDelta);
      } catch (error) {
        if (!(error instanceof VertexError) || !error.outcomeUnknown) throw error;
        if (await this.#isThere(stamp, error)) return true;
        lost = error;
        throw error;
      }
    };
    return retryUnknown(post, (error) => error === lost && Date.now() < deadline);
  }

  async #post(stamp: Stamp, stateDelta: Readonly<Record<string, unknown>>): Promise<boolean> {
    const { api, id } = this.target;
    const { micros } = this;
    const sending = { stamp, micros, stateDelta };
    const withRawEvent = !this.connection.withoutRawEvents;
    const first = await api.append(id, sentEvent({ ...sending, withRawEvent }));
    if (first.status !== 400) return first.status !== NOT_FOUND;
    if (!withRawEvent) throw refusalError(400, first.body, false);
    const second = await api.append(id, sentEvent({ ...sending, withRawEvent: false }));
    if (second.status === 400) throw refusalError(400, second.body, false);
    if (first.refusesRawEvent) this.connection.withoutRawEvents = true;
    return second.status !== NOT_FOUND;
  }

  /** Whether this try has arrived, or an earlier one of the same event; events of an interrupted batch do not count. */
  async #isThere({ id, seq, batch }: Stamp, failure: VertexError): Promise<boolean> {
    try {
      const { sessionEvents = [] } = await this.target.api.eventPage(this.target.id, undefined);
      const isSame = (event: ReadEvent): boolean =>
        event.id === id && event.seq === seq && event.batch?.id === batch?.id;
      return sessionEvents.map(readEvent).some(isSame);
    } catch {
      throw failure;
    }
  }
}
