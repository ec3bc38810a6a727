import type { LoggedEvent } from '../sessions/domain/event/event.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { agendaNameOf } from '../sessions/domain/background/agenda-names.js';
import { BoundedMap } from '../sessions/domain/process/bounded-map.js';

/** The state of a session at the last read. */
type PendingCall = Pick<SessionRecord, 'incarnation' | 'firstSeq' | 'lastSeq' | 'marksSeq'> & {
  /** From this event on, the call no longer counts as pending. */
  readonly untilSeq: number;
};

/** A session that is dropped from the map is read once more. */
const MAX_SESSIONS = 10_000;

/**
 * Sessions in which a pending tool call leaves nothing to summarise. That cannot change while this process sees every
 * event and none contains a tool call or response. So the session is not read after each append.
 */
export class PendingCallCache {
  readonly #calls = new BoundedMap<PendingCall>(MAX_SESSIONS);

  add({ incarnation, firstSeq, lastSeq, marksSeq, ...key }: SessionRecord, untilSeq: number): void {
    this.#calls.set(agendaNameOf(key), { incarnation, firstSeq, lastSeq, marksSeq, untilSeq });
  }

  /** Whether the call is still pending after `event`, which was just appended. `record` is the state after it. */
  isStillPending(name: string, event: LoggedEvent, record: SessionRecord): boolean {
    const call = this.#calls.get(name);
    if (!call) return false;
    const isSameSession =
      call.incarnation === record.incarnation && call.firstSeq === record.firstSeq && call.marksSeq === record.marksSeq;
    const isNextEvent = event.seq === call.lastSeq + 1 && event.seq < call.untilSeq;
    if (isSameSession && isNextEvent && !hasTool(event)) {
      this.#calls.set(name, { ...call, lastSeq: event.seq });
      return true;
    }
    this.#calls.delete(name);
    return false;
  }
}

function hasTool({ content }: LoggedEvent): boolean {
  return (content?.parts ?? []).some(({ functionCall, functionResponse }) => functionCall ?? functionResponse);
}
