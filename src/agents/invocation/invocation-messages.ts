import type { Content } from '../../sessions/domain/event/content.js';
import { StaleSessionError } from '../../sessions/domain/errors/errors.js';
import type { EventInput, LoggedEvent } from '../../sessions/domain/event/event.js';
import {
  type QueueEntry,
  type TakenMessage,
  handOverEvent,
  messageEvent,
  invocationOfMessage,
} from '../turn/control-events.js';
import { inBatches } from '../../sessions/domain/stored/batches.js';
import { batchLimitsOf, readMessages } from '../turn/queue-place.js';
import type { GivenApproval } from './invocation-approvals.js';
import type { OutputRule } from './output-key.js';
import { type TurnLog, isRefusal } from '../turn/turn-log.js';

/** What an invocation begins with. */
export interface InvocationStart {
  /** The message of the invocation, for its approvals. */
  readonly messageSeq?: number | undefined;
  readonly invocationId: string;
  readonly agentName: string;
  readonly output: OutputRule | undefined;
  readonly messages: readonly TakenMessage[];
  readonly isResumed: boolean;
  /** What the invocation stored before, if it is resumed. */
  readonly earlier: readonly LoggedEvent[];
  /** The part of it that belongs to this run. */
  readonly shown: readonly LoggedEvent[];
  /** The answer with which it goes on. */
  readonly given?: GivenApproval | undefined;
}

/** What an invocation answers: the messages that it began with, and those that came with `merge`. */
export class InvocationMessages {
  readonly contents: Content[];
  /** The one that was sent with the id of the invocation, with others or alone. */
  readonly #own: Content;
  #ownSeq: number | undefined;
  #seq: number;
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
    const { env, key, news } = this.log;
    await this.log.caughtUp();
    const [places = []] = inBatches(news.messages, batchLimitsOf(env.sessions));
    if (places.length === 0) return [];
    const entries = await readMessages(env, key, places);
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
      news.forget(places);
      return [];
    }
    news.forget(places);
    const messages = entries.map(({ message }) => message);
    this.contents.push(...messages);
    return messages;
  }

  #events(entries: readonly QueueEntry[]): EventInput[] {
    return entries.map((entry) => messageEvent({ ...entry, isQueued: true }, this.start.invocationId));
  }
}
