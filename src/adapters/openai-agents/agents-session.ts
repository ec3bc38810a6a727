import type {
  AgentInputItem,
  Model,
  OpenAIResponsesCompactionArgs,
  OpenAIResponsesCompactionAwareSession,
  OpenAIResponsesCompactionResult,
  RunContext,
  RunContextAwareSession,
  SessionHistoryRewriteArgs,
  SessionHistoryRewriteAwareSession,
  SessionHistoryTransactionArgs,
  SessionHistoryTransactionAwareSession,
} from '@openai/agents-core';
import { randomUUID } from 'node:crypto';
import { checkedSessionKey, checkOptions, digestOf, inCommits, type OptionKinds, RESERVED } from '../../adapter.js';
import {
  EventConflictError,
  type EventInput,
  InvalidInputError,
  type Session,
  type SessionKey,
  type SessionService,
  type TurnReference,
} from '../../index.js';
import { AskedRequests, withRequests } from './asked-items.js';
import { editedHistory } from './history-edits.js';
import { type CheckedTransaction, checkedTransaction, isSameItem } from './history-transaction.js';
import { type EventFrame, itemEvents, recordEvent, wholeItem } from './item-events.js';
import type { Entry } from './item-history.js';
import { usageRecordsOf } from './item-records.js';
import { NotedModel } from './noted-model.js';
import { withUsage } from './counted-events.js';
import { type NewUsage, RunUsages } from './run-usage.js';
import { OperationConflictError, StaleHistoryError } from './session-errors.js';
import { type ReadHistory, SessionHistory } from './session-history.js';

/** What the model made of a history that became long. */
export interface CompactedHistory {
  readonly items: AgentInputItem[];
  readonly usage: OpenAIResponsesCompactionResult['usage'];
}

/** Makes a shorter history, or returns `undefined` if it is short enough. */
export type CompactHistory = (
  request: OpenAIResponsesCompactionArgs & { readonly items: AgentInputItem[] },
) => Promise<CompactedHistory | undefined>;

/** What an {@link AgentsSession} needs. */
export interface AgentsSessionOptions extends SessionKey {
  readonly sessions: SessionService;
  /** The author of what models and tools say. Default: `agent`. */
  readonly agent?: string | undefined;
  /** The model whose tokens are counted, by name. Prices are found by it. */
  readonly model?: string | undefined;
  /** Write in this turn of the session; writes are refused when it is over. */
  readonly turn?: TurnReference | undefined;
  /** Called after each turn of a run, for instance with `responses.compact` of OpenAI. */
  readonly compact?: CompactHistory | undefined;
  /** Changes items of the history before they are sent to a model. */
  readonly prepareForModel?: ((item: AgentInputItem) => AgentInputItem) | undefined;
  /** Store ids of reasoning items, even if a run leaves them out for its model. Default: false. */
  readonly keepsReasoningIds?: boolean | undefined;
}

const OPTIONS: OptionKinds<AgentsSessionOptions> = {
  sessions: 'object',
  appName: 'anything',
  userId: 'anything',
  sessionId: 'anything',
  agent: 'author?',
  model: 'text?',
  turn: 'object?',
  compact: 'function?',
  prepareForModel: 'function?',
  keepsReasoningIds: 'flag?',
};

/** A history as it was read. */
interface KnownHistory {
  readonly history: SessionHistory;
  readonly version: number;
  /** The id of its last event, or '' if it has none. */
  readonly lastId: string;
}

/** Where the number of the last clearing is, in the state. Operation ids count from there. */
const CLEARED = 'openai:cleared';
const FIRST = { isFirst: true } as const;
/** Among so many events, a run that another process began is found. */
const USAGE_EVENTS = 100;

/**
 * A session of the OpenAI Agents SDK. Its items are events of a session, which every other reader understands, and what others
 * wrote to the session are items.
 *
 * @example
 * const session = new AgentsSession({ sessions, appName: 'shop', userId: 'ann', sessionId: 'chat-1' });
 * await run(agent, 'Where is my order?', { session });
 */
export class AgentsSession
  implements
    RunContextAwareSession,
    SessionHistoryRewriteAwareSession,
    SessionHistoryTransactionAwareSession,
    OpenAIResponsesCompactionAwareSession
{
  readonly acceptsRunContext = true;
  protected readonly options: AgentsSessionOptions;
  protected history: SessionHistory;
  readonly #usages = new RunUsages();
  readonly #asked = new AskedRequests();
  readonly #invocations = new WeakMap<RunContext, string>();
  /** What the caller knows, for a replacement of it. */
  #known: KnownHistory | undefined;

  constructor(options: AgentsSessionOptions) {
    checkOptions('AgentsSession', options, OPTIONS);
    this.options = options;
    this.history = new SessionHistory(options.sessions, checkedSessionKey(options), options.turn);
  }

  async getSessionId(): Promise<string> {
    return this.history.key.sessionId;
  }

  /** The newest items in the order of the conversation. With a limit, it reads only the end of the log. */
  async getItems(limit?: number, runContext?: RunContext): Promise<AgentInputItem[]> {
    if (runContext) this.#usages.begin(runContext);
    if (limit !== undefined && !(limit > 0)) return [];
    const wanted = limit === undefined ? Infinity : Math.ceil(limit);
    const read = await this.history.read(wanted);
    if (!read) this.history.begin();
    this.#known = this.#knownFrom(read);
    return (read?.entries ?? []).slice(-wanted).map(({ item }) => item);
  }

  /** Appends items with one commit. */
  async addItems(items: AgentInputItem[], runContext?: RunContext): Promise<void> {
    const frame = this.frame(runContext);
    const written = items.map((item, index) => ({ item, events: itemEvents(item, frame, `items[${index}]`) }));
    const usage = runContext && (await this.#newUsage(runContext));
    const answers = this.#asked.answersIn(items);
    const counted = (events: readonly EventInput[]): readonly EventInput[] =>
      usage ? withUsage(events, usage, frame, this.options.model) : events;
    const events = counted(written.flatMap((each) => each.events));
    if (events.length === 0) return;
    const isOneCommit = inCommits(events).length === 1;
    if (answers.size > 0 && !isOneCommit) this.#asked.giveUp(`${items.length} items are more than one commit has`);
    if (answers.size === 0 || !isOneCommit) await this.history.append(events);
    else
      await this.history.change(async () => {
        const { session, entries } = (await this.history.read()) ?? {
          session: await this.history.session(),
          entries: [],
        };
        const added = counted(withRequests(written, answers, entries, session.version));
        return { at: session, change: { events: added }, result: undefined };
      });
    this.#asked.drop(answers.values());
    if (usage) this.#usages.note(runContext, usage);
  }

  /**
   * The model that answers, so that its answers say what they were given: the events, the instructions, the tools, and how long it took.
   * `sessions.getModelRequest` shows it.
   *
   * @param model object; a provider has it by its name
   * @example
   * const agent = new Agent({ name: 'support', model: session.model(await provider.getModel('gpt-5')) });
   * await run(agent, 'Where is my order?', { session });
   */
  model(model: Model): Model {
    if (typeof model?.getResponse !== 'function')
      throw new InvalidInputError("must be a model object, such as await provider.getModel('gpt-5')", 'model');
    return new NotedModel(model, (asked) => this.#asked.note(asked));
  }

  /** Takes the last item back. The log keeps it. */
  async popItem(_runContext?: RunContext): Promise<AgentInputItem | undefined> {
    return this.history.change(async () => {
      const read = await this.history.read(1);
      const last = read?.entries.at(-1);
      if (!read || !last) return { result: undefined };
      const change = editedHistory(read, new Map([[last, undefined]]), this.frame());
      return { at: read.session, change, result: last.item };
    });
  }

  /** Takes all items back. The log keeps them, and the state stays. */
  async clearSession(_runContext?: RunContext): Promise<void> {
    await this.history.clear({ stateDelta: { [CLEARED]: randomUUID() } });
  }

  /** Replaces function calls, for instance after a human changed their arguments. */
  async applyHistoryMutations({ mutations }: SessionHistoryRewriteArgs): Promise<void> {
    for (const mutation of mutations) {
      if (mutation.type !== 'replace_function_call') continue;
      const { callId, replacement } = structuredClone(mutation);
      await this.history.change(async () => {
        const read = await this.history.read();
        const calls = (read?.entries ?? []).filter(
          ({ item }) => item.type === 'function_call' && item.callId === callId,
        );
        if (!read || calls.length === 0) return { result: undefined };
        const isDone = calls.length === 1 && calls[0] && isSameItem(calls[0].item, replacement);
        const edits = new Map(calls.map((entry, index) => [entry, index === 0 ? replacement : undefined]));
        const change = isDone ? undefined : editedHistory(read, edits, this.frame());
        return { at: read.session, ...(change && { change }), result: undefined };
      });
    }
  }

  /** Changes the end of the history, all or nothing. An operation id is applied once, in all processes. */
  async applyHistoryTransaction(args: SessionHistoryTransactionArgs, runContext?: RunContext): Promise<void> {
    const transaction = checkedTransaction(args);
    const frame = this.frame(runContext);
    const events = transaction.items.flatMap((item, index) => itemEvents(item, frame, `transaction.items[${index}]`));
    if (this.#asked.answersIn(transaction.items).size > 0) this.#asked.giveUp('a transaction stores it');
    await this.history.change(async () => {
      const { session, entries, events: seen } = await this.#before(transaction);
      const marker = operationEvent(session, transaction);
      if (await this.#isApplied(session, marker, transaction)) return { result: undefined };
      const suffix = suffixOf(entries, transaction);
      if (!suffix) throw new StaleHistoryError(session.id);
      const edits = new Map(suffix.map((entry) => [entry, undefined]));
      const change = editedHistory({ events: seen, entries }, edits, frame, [marker, ...events]);
      return { at: session, change, result: undefined };
    });
  }

  /**
   * Replaces what `getItems` returned last. For other readers, the conversation stays as it was.
   *
   * @throws StaleHistoryError if items were taken back since then
   */
  async replaceHistoryWithCompaction(items: AgentInputItem[], runContext?: RunContext): Promise<void> {
    // After a change of branch, the caller knows nothing of the current one.
    const known = this.#known?.history === this.history ? this.#known : undefined;
    await this.#replace(items, known ?? this.#knownFrom(await this.history.read(0)), runContext);
  }

  /**
   * Makes the history shorter, if the option `compact` is set. What others write meanwhile stays.
   *
   * @throws StaleHistoryError if items were taken back meanwhile
   */
  async runCompaction(
    args: OpenAIResponsesCompactionArgs = {},
    runContext?: RunContext,
  ): Promise<OpenAIResponsesCompactionResult | null> {
    const { compact } = this.options;
    const read = compact && (await this.history.read());
    if (!compact || !read || read.entries.length === 0) return null;
    const compacted = await compact({ ...args, items: read.entries.map(({ item }) => item) });
    if (!compacted) return null;
    await this.#replace(compacted.items, this.#knownFrom(read), runContext);
    return { usage: compacted.usage };
  }

  prepareHistoryItemForModelInput(item: AgentInputItem): AgentInputItem {
    return this.options.prepareForModel?.(item) ?? item;
  }

  /** Items come back as they were, so there is nothing to remove. */
  prepareHistoryItemsForPersistenceComparison(items: AgentInputItem[]): AgentInputItem[] {
    return items;
  }

  preserveReasoningItemIdsForPersistence(): boolean {
    return this.options.keepsReasoningIds ?? false;
  }

  /**
   * Counts the tokens of a run that are not counted yet. What a run stores counts them already; this is for requests that
   * stored nothing, such as one that a guardrail stopped. Safe to repeat.
   *
   * @example await session.storeRunUsage(result);
   */
  async storeRunUsage({ runContext }: { readonly runContext: RunContext }): Promise<void> {
    await this.addItems([], runContext);
  }

  #knownFrom(read: ReadHistory | undefined): KnownHistory {
    return { history: this.history, version: read?.session.version ?? 0, lastId: read?.events.at(-1)?.id ?? '' };
  }

  async #replace(items: readonly AgentInputItem[], known: KnownHistory, runContext?: RunContext): Promise<void> {
    const frame = this.frame(runContext);
    const replacement = randomUUID();
    const wholes = items.length > 0 ? items.map((item, index) => wholeItem(item, `items[${index}]`)) : [{}];
    const records = wholes.map((whole, index) => ({ ...whole, replacement, ...(index === 0 && FIRST) }));
    const last = { ...records.pop(), replaces: known.lastId, readVersion: known.version };
    const pieces = records.map((record) => recordEvent(record, frame));
    await known.history.appendPieces(pieces, recordEvent(last, frame), known.version);
  }

  /** What a transaction changes. An append changes nothing that is there. */
  async #before({ expectedSuffix }: CheckedTransaction): Promise<ReadHistory> {
    const read = expectedSuffix && (await this.history.read(expectedSuffix.length));
    return read ?? { session: await this.history.session(), events: [], entries: [] };
  }

  async #isApplied(session: Session, marker: EventInput, { operationId }: CheckedTransaction): Promise<boolean> {
    try {
      return await this.history.has(session, [marker]);
    } catch (error) {
      if (error instanceof EventConflictError) throw new OperationConflictError(operationId);
      throw error;
    }
  }

  protected frame(runContext?: RunContext): EventFrame {
    const agent = this.options.agent ?? 'agent';
    if (!runContext) return { agent };
    const invocationId = this.#invocations.get(runContext) ?? randomUUID();
    this.#invocations.set(runContext, invocationId);
    return { agent, invocationId };
  }

  async #newUsage(runContext: RunContext): Promise<NewUsage | undefined> {
    return this.#usages.uncounted(runContext, async () => {
      const events = await this.history.newest(USAGE_EVENTS);
      return events.flatMap(usageRecordsOf);
    });
  }
}

/** An event of its own for each operation. After the session was cleared, the same operation is a new one. */
function operationEvent({ state }: Session, { operationId, digest }: CheckedTransaction): EventInput {
  const place = digestOf([state.get<string>(CLEARED) ?? '', operationId]);
  return { id: RESERVED.ids.openaiOperation + place, ...recordEvent({ operation: digest }) };
}

/** The entries that the transaction replaces; `undefined` if the history ends with other items. */
function suffixOf(entries: readonly Entry[], { expectedSuffix = [] }: CheckedTransaction): Entry[] | undefined {
  if (expectedSuffix.length === 0) return [];
  const suffix = entries.slice(-expectedSuffix.length);
  const isSame = suffix.length === expectedSuffix.length;
  return isSame && suffix.every(({ item }, index) => sameAs(item, expectedSuffix[index])) ? suffix : undefined;
}

function sameAs(item: AgentInputItem, expected: AgentInputItem | undefined): boolean {
  return expected !== undefined && isSameItem(item, expected);
}
