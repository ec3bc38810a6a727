import type { Content } from '../../sessions/domain/content.js';
import { StaleSessionError } from '../../sessions/domain/errors.js';
import type { EventInput, LoggedEvent } from '../../sessions/domain/event.js';
import {
  type QueueEntry,
  handOverEvent,
  messageEvent,
  invocationOfMessage,
  queueEntryOf,
  withdrawnBy,
} from '../turn/control-events.js';
import { inBatches } from '../../sessions/domain/batches.js';
import { type QueuePlace, placeOf } from '../turn/queue-place.js';
import type { InvocationStart } from './invocation-start.js';
import { type TurnLog, isRefusal } from '../turn/turn-log.js';

/** What an invocation answers: the messages that it began with, and those that came with `merge`. */
export class InvocationMessages {
  readonly contents: Content[];
  /** The one that was sent with the id of the invocation, with others or alone. */
  readonly #own: Content;
  #ownSeq: number | undefined;
  #seq: number;
  #waiting: readonly QueuePlace[] = [];
  #taking: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly start: Pick<InvocationStart, 'invocationId' | 'messages' | 'messageSeq'>,
    private readonly log: TurnLog,
  ) {
    this.contents = start.messages.map(({ message }) => message);
    const own = start.messages.find(({ invocationId }) => invocationId === start.invocationId);
    this.#own = own?.message ?? {};
    this.#seq = start.messageSeq ?? 0;
  }

  /** The first one. */
  get seq(): number {
    return this.#seq;
  }

  /** An event that was stored for the beginning. */
  adopt(event: LoggedEvent): void {
    const asked = invocationOfMessage(event);
    if (asked === undefined) return;
    this.#seq ||= event.seq;
    if (asked === this.start.invocationId) this.#ownSeq = event.seq;
  }

  /** An event that somebody else appended. */
  notice(event: LoggedEvent): void {
    const withdrawn = withdrawnBy(event);
    this.#forget(this.#waiting.filter(({ invocationId }) => invocationId === withdrawn));
    const entry = queueEntryOf(event);
    if (entry?.policy === 'merge') this.#waiting = [...this.#waiting, placeOf(entry)];
  }

  /** The event that leaves the invocation to another process. */
  handOver(sessionId: string, agentName: string): EventInput {
    const handedOver = { messageSeq: this.#ownSeq ?? this.#seq, agentName };
    return handOverEvent(this.start.invocationId, sessionId, this.#own, handedOver);
  }

  /** Stores those that came with `merge`, as many as fit into a commit; the next call takes the others. One after the other, since agents may work side by side. */
  async take(): Promise<readonly Content[]> {
    const taken = this.#taking.then(async () => this.#take());
    this.#taking = taken.catch(() => undefined);
    return taken;
  }

  async #take(): Promise<readonly Content[]> {
    const [places = []] = inBatches(this.#waiting, this.log.batchLimits);
    if (places.length === 0) return [];
    const entries = await this.log.readMessages(places);
    try {
      if (entries.length > 0) await this.log.append(this.#events(entries), { ifUnchanged: true });
    } catch (error) {
      if (error instanceof StaleSessionError) {
        // Some may have been taken back.
        await this.log.readNews();
        return this.#take();
      }
      if (!isRefusal(error)) throw error;
      // They get turns of their own, where what the store refuses leaves the queue.
      this.#forget(places);
      return [];
    }
    this.#forget(places);
    const messages = entries.map(({ message }) => message);
    this.contents.push(...messages);
    return messages;
  }

  #events(entries: readonly QueueEntry[]): EventInput[] {
    return entries.map((entry) => messageEvent({ ...entry, isQueued: true }, this.start.invocationId));
  }

  #forget(places: readonly QueuePlace[]): void {
    this.#waiting = this.#waiting.filter((place) => !places.includes(place));
  }
}
