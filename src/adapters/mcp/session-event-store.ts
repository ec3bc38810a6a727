import { setImmediate } from 'node:timers';
import { Logger } from '@nestjs/common';
import { checkedSessionKey, checkOptions, KeyedQueue, withShownErrors } from '../../adapter.js';
import { InvalidInputError, type SessionService } from '../../index.js';
import { MessageLog, type PlacedEvent, assertLogId } from './message-log.js';
import { type Message, MessageReader, createMessageEvents, readMessageRecord } from './stored-message.js';

/** What a {@link SessionEventStore} needs. */
export interface SessionEventStoreOptions {
  readonly sessions: SessionService;
  readonly appName: string;
  /** The user who is signed in. */
  readonly userId: string;
  /** The session of the transport, `Mcp-Session-Id`. */
  readonly mcpSessionId: string;
  /**
   * How many messages are kept at least; at most twice as many are. One of more than 262,144 characters counts as several, one for each so
   * many. Default: 1,000.
   */
  readonly maxMessages?: number | undefined;
  /** For streams that another instance works on: a resumed one goes on with what that instance stores. */
  readonly follow?: FollowOptions | undefined;
}

/** How long a resumed stream follows the messages of another instance. */
export interface FollowOptions {
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Called when the client has its answer, or nothing can come any more: then the response can be ended. */
  readonly onEnd?: (() => void) | undefined;
  /**
   * For transports of version 2 of the SDK, which end a resumed stream at once: its response begins with the first message, so that
   * the client has a place from which it comes again. Default `false`.
   */
  readonly waitsForMessage?: boolean | undefined;
}

const MOST_MESSAGES = 100_000;

type Send = (eventId: string, message: Message) => Promise<void>;

/**
 * Keeps the messages of one transport of MCP, so that its client can resume a stream after its connection broke, also on another
 * instance. Make one for each transport: all transports call their streams by the same names. It is an `EventStore` of the SDK, of
 * version 1 and of version 2.
 *
 * @example
 * import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
 *
 * const mcpSessionId = randomUUID();
 * const eventStore = new SessionEventStore({ sessions, appName: 'shop-mcp', userId: 'ann', mcpSessionId });
 * const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => mcpSessionId, eventStore });
 */
export class SessionEventStore {
  readonly #log: MessageLog;
  readonly #queue = new KeyedQueue();
  readonly #logger = new Logger(SessionEventStore.name);
  readonly #follow: FollowOptions | undefined;

  constructor(options: SessionEventStoreOptions) {
    checkOptions('SessionEventStore', options, {
      sessions: 'object',
      appName: 'anything',
      userId: 'anything',
      mcpSessionId: 'anything',
      maxMessages: 'anything?',
      follow: 'object?',
    });
    const { sessions, appName, userId, mcpSessionId, maxMessages = 1_000, follow } = options;
    if (follow) {
      checkOptions('follow', follow, { signal: 'object', onEnd: 'function?', waitsForMessage: 'flag?' });
    }
    const key = checkedSessionKey({ appName, userId, sessionId: mcpSessionId });
    assertLogId(mcpSessionId);
    if (!Number.isSafeInteger(maxMessages) || maxMessages < 1 || maxMessages > MOST_MESSAGES) {
      throw new InvalidInputError(`must be a whole number from 1 to ${MOST_MESSAGES}`, 'maxMessages');
    }
    this.#log = new MessageLog(sessions, key, maxMessages);
    this.#follow = follow;
  }

  /** Stored in the order of the calls. */
  async storeEvent(streamId: string, message: Message): Promise<string> {
    const events = createMessageEvents(streamId, message);
    const { part, event } = await this.#shown(() => this.#queue.run('', () => this.#log.append(events)));
    return placeText({ part, seq: event.seq, id: event.id });
  }

  /** `undefined` for an event that this client was never sent, or that is not kept any more. */
  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    const place = parseMessagePlace(eventId);
    const event = place && (await this.#shown(() => this.#log.at(place.part, place.seq)));
    return event && event.id === place.id ? readMessageRecord(event)?.stream : undefined;
  }

  async replayEventsAfter(lastEventId: string, { send }: { send: Send }): Promise<string> {
    return new Promise((resolve, reject) => {
      void this.#queue.run('', async () => {
        await this.#shown(() => this.#replay(lastEventId, send)).then(resolve, reject);
        // The transport connects the stream now. What is stored before that would reach nobody.
        await new Promise((done) => setImmediate(done));
      });
    });
  }

  async #replay(lastEventId: string, send: Send): Promise<string> {
    const stream = await this.getStreamIdForEventId(lastEventId);
    let place = parseMessagePlace(lastEventId);
    if (stream === undefined || !place) {
      throw new InvalidInputError('is no event of this client, or is not kept any more: start again', 'lastEventId');
    }
    const replay = new StreamReplay(stream, send);
    for await (const placed of this.#log.after(place.part, place.seq)) {
      await replay.add(placed);
      place = { part: placed.part, seq: placed.event.seq, id: placed.event.id };
    }
    const following = this.#follow && this.#following(replay, place, this.#follow);
    if (this.#follow?.waitsForMessage) await following;
    return stream;
  }

  async #following(replay: StreamReplay, { part, seq }: MessagePlace, follow: FollowOptions): Promise<void> {
    const { signal, onEnd, waitsForMessage = false } = follow;
    const isDone = (): boolean => replay.isAnswered || (waitsForMessage && replay.hasSent);
    try {
      if (isDone()) return;
      for await (const placed of this.#log.following(part, seq, signal)) {
        await replay.add(placed);
        if (isDone()) return;
      }
    } catch {
      // The client comes again, and hears then what is wrong.
    } finally {
      // After the response has begun.
      setImmediate(() => onEnd?.());
    }
  }

  /**
   * Removes all messages. Call it when the client ends its session. What a tool says after that is refused (`SessionNotFoundError`).
   *
   * @example new StreamableHTTPServerTransport({ sessionIdGenerator, eventStore, onsessionclosed: () => eventStore.clear() });
   */
  async clear(): Promise<void> {
    await this.#shown(() => this.#queue.run('', () => this.#log.clear()));
  }

  /** The SDK tells clients the message of any error. */
  async #shown<Result>(work: () => Promise<Result>): Promise<Result> {
    return withShownErrors(this.#logger, work);
  }
}

/** Sends the messages of one stream. */
class StreamReplay {
  readonly #messages = new MessageReader();
  /** Whether any message was sent. */
  hasSent = false;
  /** Whether the answer to the request was sent. */
  isAnswered = false;

  constructor(
    private readonly stream: string,
    private readonly send: Send,
  ) {}

  /** Sends what the event holds, if it is of this stream. */
  async add({ part, event }: PlacedEvent): Promise<void> {
    const record = readMessageRecord(event);
    if (record?.stream !== this.stream) return;
    const message = this.#messages.messageOf(record);
    if (!message) return;
    await this.send(placeText({ part, seq: event.seq, id: event.id }), message);
    this.hasSent = true;
    if ('result' in message || 'error' in message) this.isAnswered = true;
  }
}

/** Where a message is: the number of a part of the log, the `seq` of its event there, and the event's id, which nobody can guess. */
interface MessagePlace {
  readonly part: number;
  readonly seq: number;
  readonly id: string;
}

const PLACE = /^(\d{1,12})-(\d{1,12})-([0-9a-f]{24})$/;

function placeText({ part, seq, id }: MessagePlace): string {
  return `${part}-${seq}-${id}`;
}

/** `undefined` for anything that this store did not give out. */
function parseMessagePlace(text: string): MessagePlace | undefined {
  const [, part, seq, id] = PLACE.exec(text) ?? [];
  return part && seq && id ? { part: Number(part), seq: Number(seq), id } : undefined;
}
