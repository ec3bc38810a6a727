import { isDeepStrictEqual } from 'node:util';
import type { BaseCallbackHandler } from '@langchain/core/callbacks/base';
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
import { checkOptions, fieldNames, KeyedQueue, readPages, requestCheck, sessionNameOf } from '../../adapter.js';
import {
  ConfigurationError,
  InvalidInputError,
  type Session,
  type SessionKey,
  type SessionService,
} from '../../index.js';
import { readableSession } from '../shared/readable-session.js';
import { answeredRequests } from './answered-requests.js';
import { type AskedRequest, AskedRequests, ModelRequestHandler } from './asked-requests.js';
import { type AddedMessage, ChannelWriter, type KnownCheckpoint } from './channel-writer.js';
import { CheckpointWriter, type NewCheckpoint, type PlacedCheckpoint } from './checkpoint-writer.js';
import { writesEvent } from './pending-writes.js';
import { StaleThreadError } from './saver-errors.js';
import {
  type ThreadAddress,
  type ThreadUser,
  findThreadAddress,
  checkpointIdOf,
  createCheckpointConfig,
  findThreadHead,
  headsOfSubgraphs,
  isThread,
  namespaceOf,
  threadKey,
  readConfigTurn,
  resolveThreadUser,
} from './thread-address.js';
import { type KnownHead, KnownHeads, relationOf } from './known-heads.js';
import { type FoundCheckpoint, ThreadLog } from './thread-log.js';
import { ThreadMemory } from './thread-memory.js';
import type { ThreadHead } from './thread-records.js';
import { ThreadSessions } from './thread-sessions.js';
import { type InTurnOptions, runInTurn } from './thread-turn.js';
import { TupleReader } from './tuple-reader.js';

/** What a {@link SessionSaver} needs. */
export interface SessionSaverOptions {
  readonly sessions: SessionService;
  readonly appName: string;
  /** The user whose sessions the threads are. Default: `langgraph`. One that is `undefined` is refused: all users would share threads. */
  readonly userId?: ThreadUser;
  /** The channel whose messages are the conversation. Default: `messages`. */
  readonly messagesChannel?: string | undefined;
  /** For values that JSON cannot hold, or to encrypt. Then nothing is shown to other readers of the session. */
  readonly serde?: SerializerProtocol | undefined;
}

const checkedFields = requestCheck({
  inTurn: fieldNames<InTurnOptions>({ waitMs: true, ttlMs: true, holder: true }),
});

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
  /** The channel whose messages are the conversation; `undefined` if they are not shown. */
  readonly #shows: string | undefined;
  readonly #asked = new AskedRequests();
  readonly #memory = new ThreadMemory();
  readonly #heads = new KnownHeads();
  readonly #sessions: ThreadSessions;
  readonly #channels: ChannelWriter;
  readonly #writer: CheckpointWriter;
  readonly #queue = new KeyedQueue();

  constructor(options: SessionSaverOptions) {
    checkSaver(options);
    const { sessions, appName, userId = 'langgraph', messagesChannel = 'messages', serde } = options;
    super(serde);
    this.#appName = appName;
    this.#user = userId;
    this.#sessions = new ThreadSessions(sessions, this.#memory);
    this.#channels = new ChannelWriter(this.serde, serde !== undefined);
    this.#shows = serde ? undefined : messagesChannel;
    this.#writer = new CheckpointWriter(this.#channels, this.serde, this.#shows);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const address = findThreadAddress(this.#appName, this.#user, config);
    if (!address) return undefined;
    const session = await this.#read(address.key);
    const head = session && findThreadHead(session, address.ns)?.id;
    const id = checkpointIdOf(config) ?? head;
    this.#heads.afterRead(config, address, id, { head, version: session?.version ?? 0 });
    if (!session || id === undefined) return undefined;
    const log = this.#log(address.key);
    const found = await log.checkpoint(address.ns, id, id === head ? session.version : undefined);
    if (!found) return undefined;
    const reader = this.#reader(log);
    const tuple = await reader.tuple(address, found);
    this.#memory.remember(address, await this.#knownAs(found, tuple.checkpoint, reader));
    return tuple;
  }

  override async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    let left = options.limit ?? Infinity;
    if (left <= 0) return;
    for await (const { key, session } of this.#threads(config)) {
      const { version } = session;
      const ns = namespaceOf(config);
      if (ns !== undefined)
        this.#heads.afterRead(config, { key, ns }, undefined, { head: findThreadHead(session, ns)?.id, version });
      for await (const tuple of this.#reader(this.#log(key)).list(key, config, options)) {
        const at = { key, ns: namespaceOf(tuple.config) ?? '' };
        this.#heads.afterRead(config, at, tuple.checkpoint.id, { head: findThreadHead(session, at.ns)?.id, version });
        yield tuple;
        if (--left <= 0) return;
      }
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions?: ChannelVersions,
  ): Promise<RunnableConfig> {
    const address = this.#addressIn(config);
    const given = { ns: address.ns, parent: checkpointIdOf(config), checkpoint, metadata, changed: newVersions };
    await this.#queue.run(sessionNameOf(address.key), () => this.#put(config, address, given));
    return createCheckpointConfig(address, checkpoint.id);
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
    // Of errors and interrupts the last ones count, so calls keep their order, whichever is serialized first.
    const event = writesEvent(this.serde, record, writes);
    event.catch(() => undefined);
    await this.#queue.run(sessionNameOf(address.key), async () => {
      const events = [await event];
      const gone = goneError(address, checkpoint, this.#heads.of(config, address, checkpoint));
      await this.#sessions.append(
        address.key,
        (session) => this.#sessions.tryAppend(session, events, { turn: readConfigTurn(config) }),
        gone,
      );
    });
  }

  /** Deletes the session. If `userId` of the options is a function, say whose thread it is. */
  override async deleteThread(threadId: string, userId?: string): Promise<void> {
    const owner = userId ?? (typeof this.#user === 'string' ? this.#user : undefined);
    if (owner === undefined) throw new InvalidInputError('is needed, since users have threads of their own', 'userId');
    const key = threadKey(this.#appName, owner, threadId);
    await this.#queue.run(sessionNameOf(key), async () => {
      await this.#sessions.service.deleteSession(key);
      this.#memory.forget(key);
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
    checkedFields('inTurn', options);
    const { key } = this.#addressIn(config);
    await this.#sessions.current(key);
    return runInTurn(this.#sessions.service, key, config, work, options);
  }

  /**
   * A callback handler for a run of the thread, so that answers of models say what these were given: the events, the instructions, the
   * tools, and how long it took. `sessions.getModelRequest` shows it.
   *
   * @example await graph.invoke(input, { ...config, callbacks: [saver.modelRequests(config)] });
   */
  modelRequests(config: RunnableConfig): BaseCallbackHandler {
    if (this.#shows === undefined)
      throw new InvalidInputError('hides messages, so that no event is the answer of a model', 'serde');
    return new ModelRequestHandler(this.#asked, sessionNameOf(this.#addressIn(config).key));
  }

  async #put(config: RunnableConfig, address: ThreadAddress, given: NewCheckpoint): Promise<void> {
    const way = { from: this.#originOf(address, given) ?? given.parent, to: given.checkpoint.id };
    const turn = readConfigTurn(config);
    const known = this.#heads.of(config, address, way.from);
    let kept: ReadonlyMap<string, ThreadHead> = new Map();
    let answers: ReadonlyMap<AddedMessage, AskedRequest> = new Map();
    const { checkpoint, head } = await this.#sessions.append(
      address.key,
      async (session, isFresh) => {
        const newest = findThreadHead(session, address.ns)?.id;
        const relation = relationOf(newest, way, known);
        if (relation === 'overtaken') {
          // What this process remembers may be older than what the run has seen.
          if (!isFresh) return undefined;
          throw new StaleThreadError(session.id, way.from, newest);
        }
        const base = await this.#known(session, address, relation === 'again' ? way.to : way.from);
        if (relation === 'branch' && known && base && address.ns === '') {
          kept = headsOfSubgraphs(session);
          await this.#sessions.rewind(address.key, { toSeq: base.seq, expectedVersion: session.version, turn });
          return undefined;
        }
        // Of the branches that subgraphs of one run begin together, the newest one counts, whichever is stored first.
        const isOlder = relation === 'branch' && known?.isOwn && address.ns !== '' && newest && way.to < newest;
        const after = relation === 'again' || !known ? (base?.record.after ?? 0) : known.since;
        const requests: PlacedCheckpoint['requests'] = (added, version) => {
          answers = this.#asked.answersIn(sessionNameOf(address.key), added);
          // Answers are messages of the checkpoint before, or new ones.
          return answeredRequests(added, answers, base?.lists.get(this.#shows ?? '') ?? [], version);
        };
        const placed = { ...given, after, isHead: !isOlder, kept, requests };
        const others = this.#memory.checkpoints(address).filter(({ record }) => record.id !== base?.record.id);
        const stored = await this.#writer.write(session, placed, base ? [base, ...others] : others, (events) =>
          this.#sessions.tryAppend(session, events, { expectedVersion: session.version, turn }),
        );
        return stored && { checkpoint: stored, head: isOlder ? newest : way.to };
      },
      goneError(address, way.from, known),
    );
    this.#asked.drop(sessionNameOf(address.key), answers.keys());
    this.#memory.remember(address, checkpoint);
    this.#heads.afterPut(config, address, { ...way, head, since: checkpoint.record.after ?? 0 });
  }

  /** LangGraph copies a checkpoint under the parent of that one, with all its versions. */
  #originOf(address: ThreadAddress, { metadata, checkpoint }: NewCheckpoint): string | undefined {
    if (metadata.source !== 'fork') return undefined;
    const known = this.#memory.checkpoints(address);
    return known.find(({ record }) => isDeepStrictEqual(record.versions, checkpoint.channel_versions))?.record.id;
  }

  async #known(session: Session, address: ThreadAddress, id: string | undefined): Promise<KnownCheckpoint | undefined> {
    if (id === undefined) return undefined;
    const known = this.#memory.checkpoint(address, id);
    if (known) return known;
    const log = this.#log(address.key);
    const end = findThreadHead(session, address.ns)?.id === id ? session.version : undefined;
    const found = await log.checkpoint(address.ns, id, end);
    const reader = this.#reader(log);
    return found && this.#knownAs(found, await reader.checkpoint(address, found), reader);
  }

  async #knownAs(
    { seq, record }: FoundCheckpoint,
    { channel_values: values }: Checkpoint,
    reader: TupleReader,
  ): Promise<KnownCheckpoint> {
    return { seq, record, lists: await this.#channels.itemsOf(values, (list) => reader.seqsOf(list)) };
  }

  /** Reads a session when all that was put before is stored. */
  #read(key: SessionKey): Promise<Session | undefined> {
    return this.#queue.run(sessionNameOf(key), () => this.#sessions.read(key));
  }

  /** The thread of the config, or all threads of the user. */
  async *#threads(config: RunnableConfig): AsyncGenerator<{ readonly key: SessionKey; readonly session: Session }> {
    const address = findThreadAddress(this.#appName, this.#user, config);
    if (address) {
      const session = await this.#read(address.key);
      if (session) yield { key: address.key, session };
      return;
    }
    const owner = { appName: this.#appName, userId: resolveThreadUser(this.#user, config) };
    const { service } = this.#sessions;
    const pages = readPages((cursor) => service.listSessions({ ...owner, orderBy: 'createTime', cursor }));
    for await (const { sessions } of pages) {
      for (const listed of sessions) {
        const session = await readableSession(service, listed);
        if (isThread(session)) yield { key: { ...owner, sessionId: session.id }, session };
      }
    }
  }

  #addressIn(config: RunnableConfig): ThreadAddress {
    const address = findThreadAddress(this.#appName, this.#user, config);
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

function checkSaver(options: SessionSaverOptions): void {
  checkOptions('SessionSaver', options, {
    sessions: 'object',
    appName: 'id',
    userId: 'id or function?',
    messagesChannel: 'text?',
    serde: 'object?',
  });
  if (!('userId' in options) || options.userId !== undefined) return;
  throw new ConfigurationError(['SessionSaver: userId is undefined; leave it out if all threads are of one user.']);
}

/** For a run that continues a checkpoint of a thread that was there: what was deleted is not created again. */
function goneError({ key }: ThreadAddress, from: string | undefined, known: KnownHead | undefined): Error | undefined {
  const wasThere = known !== undefined && (known.isOwn || known.id !== undefined);
  return from !== undefined && wasThere ? new StaleThreadError(key.sessionId, from, undefined) : undefined;
}
