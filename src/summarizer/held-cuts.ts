import type { LoggedEvent } from '../sessions/domain/event.js';
import type { SessionRecord } from '../sessions/domain/session-record.js';
import { Remembered } from './remembered.js';
import { agendaNameOf } from './session-names.js';

/** A session as it stood when an awaited call held its cut. */
type HeldCut = Pick<SessionRecord, 'incarnation' | 'firstSeq' | 'lastSeq' | 'marksSeq'> & {
  /** With this event nobody waits for the call any more. */
  readonly untilSeq: number;
};

/** What is forgotten is only looked at once more. */
const MOST_REMEMBERED = 10_000;

/**
 * Sessions in which a call that waits for its answer leaves nothing to summarise. As long as they go on event by event,
 * known here and without a tool in them, that cannot change; so they need not be read after each append.
 */
export class HeldCuts {
  readonly #held = new Remembered<HeldCut>(MOST_REMEMBERED);

  hold({ incarnation, firstSeq, lastSeq, marksSeq, ...key }: SessionRecord, untilSeq: number): void {
    this.#held.set(agendaNameOf(key), { incarnation, firstSeq, lastSeq, marksSeq, untilSeq });
  }

  /** Whether an event that was just appended leaves it at that; the record is the one after it. */
  isStillHeld(name: string, event: LoggedEvent, record: SessionRecord): boolean {
    const held = this.#held.get(name);
    if (!held) return false;
    const isSame =
      held.incarnation === record.incarnation && held.firstSeq === record.firstSeq && held.marksSeq === record.marksSeq;
    const isNext = event.seq === held.lastSeq + 1 && event.seq < held.untilSeq;
    if (isSame && isNext && !hasTool(event)) {
      this.#held.set(name, { ...held, lastSeq: event.seq });
      return true;
    }
    this.#held.delete(name);
    return false;
  }
}

function hasTool({ content }: LoggedEvent): boolean {
  return (content?.parts ?? []).some(({ functionCall, functionResponse }) => functionCall ?? functionResponse);
}
