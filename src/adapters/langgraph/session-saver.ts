import { isDeepStrictEqual } from 'node:util';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
  type SerializerProtocol,
} from '@langchain/langgraph-checkpoint';
import { KeyedQueue } from '../../components/keyed-queue.js';
import { InvalidInputError, StaleSessionError } from '../../sessions/domain/errors.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import type { Session } from '../../sessions/domain/session.js';
import { pagesOf } from '../../sessions/domain/paging.js';
import type { SessionService } from '../../sessions/session.service.js';
import { ChannelWriter, type KnownCheckpoint } from './channel-writer.js';
import { CheckpointWriter, type NewCheckpoint } from './checkpoint-writer.js';
import { writesEvent } from './pending-writes.js';
import { StaleThreadError } from './saver-errors.js';
import {
  type ThreadAddress,
  type ThreadUser,
  addressOf,
  checkpointIdOf,
  configOf,
  headOf,
  isThread,
  threadKey,
  turnOf,
  userOf,
} from './thread-address.js';
import { type FoundCheckpoint, ThreadLog } from './thread-log.js';
import { ThreadMemory, nameOf } from './thread-memory.js';
import { ThreadSessions } from './thread-sessions.js';
import { type InTurnOptions, runInTurn } from './thread-turn.js';
import { TupleReader } from './tuple-reader.js';

/** What a {@link SessionSaver} needs. */
export interface SessionSaverOptions {
  readonly sessions: SessionService;
  readonly appName: string;
  /** The user whose sessions the threads are. Default: `langgraph`. */
  readonly userId?: ThreadUser | undefined;
  /** The channel whose messages are the conversation. Default: `messages`. */
  readonly messagesChannel?: string | undefined;
  /** For values that JSON cannot hold, or to encrypt. Then nothing is shown to other readers of the session. */
  readonly serde?: SerializerProtocol | undefined;
}

const MAX_TRIES = 50;

/**
 * Keeps the checkpoints of LangGraph in sessions: a thread is a session. Each checkpoint is one commit that has only what is
 * new, and messages are events of the conversation. A run that another one overtook fails with a {@link StaleThreadError}.
 *
 * @example
 * const graph = builder.compile({ checkpointer: new SessionSaver({ sessions, appName: 'shop' }) });
 * await graph.invoke({ messages: [new HumanMessage('Hello')] }, { configurable: { thread_id: 'chat-1' } });
 */
export class SessionSaver extends BaseCheckpointSaver {
  readonly #appName: string;
  readonly #user: ThreadUser;
  readonly #memory = new ThreadMemory();
  readonly #sessions: ThreadSessions;
  readonly #channels: ChannelWriter;
  readonly #writer: CheckpointWriter;
  readonly #queue = new KeyedQueue();

  constructor({ sessions, appName, userId = 'langgraph', messagesChannel = 'messages', serde }: SessionSaverOptions) {
    super(serde);
    this.#appName = appName;
    this.#user = userId;
    this.#sessions = new ThreadSessions(sessions, this.#memory);
    this.#channels = new ChannelWriter(this.serde, serde !== undefined);
    this.#writer = new CheckpointWriter(this.#channels, this.serde, serde ? undefined : messagesChannel);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const address = addressOf(this.#appName, this.#user, config);
    if (!address) return undefined;
    const session = await this.#sessions.read(address.key);
    const log = this.#log(address.key);
    const id = checkpointIdOf(config);
    const found = session && (await this.#find(log, session, address, id));
    if (!found) {
      if (id === undefined) this.#memory.rememberEmpty(address);
      return undefined;
    }
    const tuple = await this.#reader(log).tuple(address, found, await log.writesTo(found));
    const lists = await this.#channels.fingerprints(tuple.checkpoint.channel_values);
    this.#memory.remember(address, { ...found, lists }, id === undefined ? 'newest' : 'named');
    return tuple;
  }

  override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    let left = options.limit ?? Infinity;
    if (left <= 0) return;
    for await (const key of this.#threads(config)) {
      for await (const tuple of this.#reader(this.#log(key)).list(key, config, options)) {
        yield tuple;
        if (--left <= 0) return;
      }
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const address = this.#addressIn(config);
    const parent = checkpointIdOf(config);
    const given = { ns: address.ns, parent, checkpoint, metadata, changed: newVersions };
    await this.#queue.run(nameOf(address.key), () => this.#put(address, given, turnOf(config)));
    return configOf(address, checkpoint.id);
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = '',
  ): Promise<void> {
    const address = this.#addressIn(config);
    const checkpoint = checkpointIdOf(config);
    if (checkpoint === undefined) throw new InvalidInputError('is missing', 'configurable.checkpoint_id');
    const record = { thread: address.key.sessionId, ns: address.ns, checkpoint, task: taskId, path: taskPath };
    const event = await writesEvent(this.serde, record, writes);
    await this.#queue.run(nameOf(address.key), async () => {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const session = await this.#sessions.current(address.key);
        if (await this.#sessions.tryAppend(session, [event], { turn: turnOf(config) })) return;
      }
      throw new StaleThreadError(address.key.sessionId, checkpoint, undefined);
    });
  }

  /** Deletes the session. If `userId` of the options is a function, say whose thread it is. */
  override async deleteThread(threadId: string, userId?: string): Promise<void> {
    const owner = userId ?? (typeof this.#user === 'string' ? this.#user : undefined);
    if (owner === undefined) throw new InvalidInputError('is needed, since users have threads of their own', 'userId');
    const key = threadKey(this.#appName, owner, threadId);
    await this.#queue.run(nameOf(key), async () => {
      await this.#sessions.service.deleteSession(key);
      this.#memory.setSession(key, undefined);
    });
  }

  /** Versions of two branches of a thread differ. */
  override getNextVersion(current: number | undefined): number {
    return Math.floor(current ?? 0) + 1 + Math.random();
  }

  /**
   * Runs work in a turn of the thread. One run at a time has it, in all processes; writes of a run that lost it are refused.
   *
   * @example await saver.inTurn(config, (inTurn) => graph.invoke(input, inTurn), { waitMs: 60_000 });
   */
  async inTurn<Config extends RunnableConfig, Result>(
    config: Config,
    work: (config: Config & { readonly signal: AbortSignal }) => Result | Promise<Result>,
    options: InTurnOptions = {},
  ): Promise<Result> {
    const { key } = this.#addressIn(config);
    await this.#sessions.current(key);
    return runInTurn(this.#sessions.service, key, config, work, options);
  }

  async #put(address: ThreadAddress, given: NewCheckpoint, turn: string | undefined): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const session = await this.#sessions.current(address.key);
      const known = await this.#continued(session, address, given, turn);
      if (!known) continue;
      const written = await this.#writer.write(session, given, known, (events) =>
        this.#sessions.tryAppend(session, events, { expectedVersion: session.version, turn }),
      );
      if (!written) continue;
      this.#memory.remember(address, written, 'newest');
      return;
    }
    throw new StaleThreadError(address.key.sessionId, given.parent, undefined);
  }

  /** What the new checkpoint is compared with, first the one that it continues. `undefined` if the session was rewound to it. */
  async #continued(
    session: Session,
    address: ThreadAddress,
    given: NewCheckpoint,
    turn: string | undefined,
  ): Promise<readonly KnownCheckpoint[] | undefined> {
    const head = headOf(session, address.ns)?.id;
    const isRepeated = head === given.checkpoint.id;
    const origin = this.#originOf(address, given);
    const baseId = isRepeated ? head : (origin ?? given.parent);
    if (baseId === undefined) {
      if (head !== undefined && this.#memory.wasEmpty(address)) throw new StaleThreadError(session.id, undefined, head);
      return [];
    }
    const approach = origin ? 'named' : this.#memory.approach(address, baseId);
    const isOvertaken = !isRepeated && head !== baseId;
    if (isOvertaken && approach === 'newest') throw new StaleThreadError(session.id, baseId, head);
    const base = await this.#known(session, address, baseId);
    if (isOvertaken && base && approach === 'named' && address.ns === '') {
      await this.#rewind(address, base, session.version, turn);
      return undefined;
    }
    const others = this.#memory.checkpoints(address).filter(({ record }) => record.id !== baseId);
    return base ? [base, ...others] : others;
  }

  /** LangGraph copies a checkpoint under the parent of that one, with all its versions. */
  #originOf(address: ThreadAddress, { metadata, checkpoint }: NewCheckpoint): string | undefined {
    if (metadata.source !== 'fork') return undefined;
    const known = this.#memory.checkpoints(address);
    return known.find(({ record }) => isDeepStrictEqual(record.versions, checkpoint.channel_versions))?.record.id;
  }

  /** A run that begins at an earlier checkpoint takes the conversation back to it. */
  async #rewind(
    { key }: ThreadAddress,
    { seq }: FoundCheckpoint,
    expectedVersion: number,
    turn: string | undefined,
  ): Promise<void> {
    this.#memory.setSession(key, undefined);
    try {
      await this.#sessions.service.rewindSession({ ...key, toSeq: seq, expectedVersion, turn });
    } catch (error) {
      // Somebody wrote meanwhile: the caller looks again.
      if (!(error instanceof StaleSessionError)) throw error;
    }
  }

  async #known(session: Session, address: ThreadAddress, id: string): Promise<KnownCheckpoint | undefined> {
    const known = this.#memory.checkpoint(address, id);
    if (known) return known;
    const log = this.#log(address.key);
    const found = await this.#find(log, session, address, id);
    if (!found) return undefined;
    const { checkpoint } = await this.#reader(log).tuple(address, found, []);
    return { ...found, lists: await this.#channels.fingerprints(checkpoint.channel_values) };
  }

  /** The newest checkpoint of the namespace, or the one with this id. */
  async #find(
    log: ThreadLog,
    session: Session,
    address: ThreadAddress,
    id: string | undefined,
  ): Promise<FoundCheckpoint | undefined> {
    const head = headOf(session, address.ns);
    if (head && (id === undefined || id === head.id)) return log.head(address.ns, head);
    if (id === undefined) return undefined;
    const known = this.#memory.checkpoint(address, id);
    const event = known && (await log.at(known.seq));
    return (event && log.checkpointIn(event, address.ns, id)) ?? log.find(address.ns, id);
  }

  /** The thread of the config, or all threads of the user. */
  async *#threads(config: RunnableConfig): AsyncGenerator<SessionKey> {
    const address = addressOf(this.#appName, this.#user, config);
    if (address) {
      if (await this.#sessions.read(address.key)) yield address.key;
      return;
    }
    const owner = { appName: this.#appName, userId: userOf(this.#user, config) };
    const { service } = this.#sessions;
    const pages = pagesOf((cursor) => service.listSessions({ ...owner, orderBy: 'createTime', cursor }));
    for await (const { sessions } of pages) {
      for (const session of sessions) if (isThread(session)) yield { ...owner, sessionId: session.id };
    }
  }

  #addressIn(config: RunnableConfig): ThreadAddress {
    const address = addressOf(this.#appName, this.#user, config);
    if (address) return address;
    throw new InvalidInputError('is missing: name the thread', 'configurable.thread_id');
  }

  #log(key: SessionKey): ThreadLog {
    return new ThreadLog(this.#sessions.service, key);
  }

  #reader(log: ThreadLog): TupleReader {
    return new TupleReader(log, this.serde, (current) => this.getNextVersion(current));
  }
}
