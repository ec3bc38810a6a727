import { randomUUID } from 'node:crypto';
import { assertId, readPages, RESERVED } from '../../adapter.js';
import { type EventInput, InvalidInputError, type LoggedEvent, SessionNotFoundError } from '../../index.js';
import { AgentsSession, type AgentsSessionOptions } from './agents-session.js';
import {
  type ConversationTurn,
  NO_TOKENS,
  type PlacedTurn,
  type RunTokens,
  type ToolUsage,
  plus,
  toolUsageOf,
  turnsOf,
  usageByTurn,
} from './conversation-turns.js';
import { editedHistory } from './history-edits.js';
import { lastPieceOf } from './item-history.js';
import { RECORD_AUTHOR } from './item-records.js';
import { type HistoryChange, SessionHistory } from './session-history.js';

/** A branch of a conversation. */
export interface Branch {
  readonly name: string;
  /** The session that holds it. */
  readonly sessionId: string;
  /** Epoch milliseconds. */
  readonly createTime: number;
  /** Messages of users with text. */
  readonly userTurns: number;
  readonly isCurrent: boolean;
}

const MAIN = 'main';
const ROOT_LABEL = `${RESERVED.metadata.openai}root`;
const BRANCH_LABEL = `${RESERVED.metadata.openai}branch`;

/**
 * A session with branches, turns and usage. A branch is a fork of the session, so that it is a session of its own. All methods
 * work on the current branch, which each object has for itself; the first is `main`.
 *
 * @example
 * const session = new BranchedAgentsSession({ sessions, appName: 'shop', userId: 'ann', sessionId: 'chat-1' });
 * await session.createBranchFromTurn(2, 'shorter'); // the conversation as it was before turn 2
 * await run(agent, 'Say it in one sentence', { session });
 */
export class BranchedAgentsSession extends AgentsSession {
  readonly #main: SessionHistory;
  #current = MAIN;

  constructor(options: AgentsSessionOptions) {
    super(options);
    this.#main = this.history;
  }

  /** The name of the current branch. */
  get currentBranch(): string {
    return this.#current;
  }

  /**
   * Creates a branch from the conversation before a turn, and makes it the current one. Returns its name.
   *
   * @example await session.createBranchFromTurn(3, 'other-answer');
   */
  async createBranchFromTurn(turn: number, name: string = `turn-${turn}-${randomUUID().slice(0, 8)}`): Promise<string> {
    const read = await this.history.read();
    const found = read && turnsOf(read).find((each) => each.turn === turn);
    if (!found) throw new InvalidInputError('is no turn of the conversation', 'turn');
    return this.#createBranch(found, lastPieceOf(read.events), name);
  }

  /**
   * The same from the first turn whose message contains a text, whatever its case.
   *
   * @example await session.createBranchFromContent('refund', 'without-refund');
   */
  async createBranchFromContent(content: string, name?: string): Promise<string> {
    const [first] = await this.findTurnsByContent(content);
    if (!first) throw new InvalidInputError('is in no message of the user', 'content');
    return this.createBranchFromTurn(first.turn, name);
  }

  /** All branches, oldest first. */
  async listBranches(): Promise<Branch[]> {
    const { appName, userId, sessionId } = this.#main.key;
    const main = await this.#main.session();
    const branches = [this.#branch(MAIN, main)];
    const filter = { labels: { [ROOT_LABEL]: sessionId } };
    const list = { appName, userId, filter, orderBy: 'createTime', order: 'asc', includeState: false } as const;
    for await (const { sessions } of readPages((cursor) => this.options.sessions.listSessions({ ...list, cursor }))) {
      for (const session of sessions) {
        const name = session.metadata.labels[BRANCH_LABEL];
        if (name !== undefined && session.id === this.#idOf(name)) branches.push(this.#branch(name, session));
      }
    }
    return branches;
  }

  /**
   * Makes a branch the current one of this object.
   *
   * @example await session.switchToBranch('main');
   */
  async switchToBranch(name: string): Promise<void> {
    if (name !== MAIN) await this.#assertBranch(name);
    this.#use(name);
  }

  /**
   * Deletes a branch with its events; those that others have in common with it stay. The current branch needs `force`, and
   * `main` is the current one then.
   *
   * @example await session.deleteBranch('other-answer', { force: true });
   */
  async deleteBranch(name: string, { force = false }: { readonly force?: boolean } = {}): Promise<void> {
    if (name === MAIN) throw new InvalidInputError('must not be main, which is the session itself', 'name');
    if (name === this.#current && !force) {
      throw new InvalidInputError('is the current branch: switch to another one, or use force', 'name');
    }
    await this.#assertBranch(name);
    await this.options.sessions.deleteSession({ ...this.#main.key, sessionId: this.#idOf(name) });
    if (name === this.#current) this.#use(MAIN);
  }

  /** The turns of the current branch. */
  async turns(): Promise<ConversationTurn[]> {
    return (await this.#placedTurns()).map(({ turn, content, timestamp, items }) => ({
      turn,
      content,
      timestamp,
      items,
    }));
  }

  /**
   * The turns whose message contains a text, whatever its case.
   *
   * @example const [turn] = await session.findTurnsByContent('refund');
   */
  async findTurnsByContent(content: string): Promise<ConversationTurn[]> {
    const wanted = content.toLowerCase();
    return (await this.turns()).filter((turn) => turn.content.toLowerCase().includes(wanted));
  }

  /** How often tools were called in each turn of the current branch. */
  async getToolUsage(): Promise<ToolUsage[]> {
    return toolUsageOf(await this.#placedTurns());
  }

  /** The tokens of a turn of the current branch. Default: the last one. */
  async getTurnUsage(turn?: number): Promise<RunTokens> {
    const read = await this.history.read();
    const usage = read ? usageByTurn(read) : [];
    return usage.at(turn ?? -1) ?? NO_TOKENS;
  }

  /** The tokens of all turns of the current branch. `getUsage` of the service also counts turns that were taken back, with prices. */
  async getSessionUsage(): Promise<RunTokens & { readonly turns: number }> {
    const read = await this.history.read();
    const used = read ? usageByTurn(read).reduce(plus, NO_TOKENS) : NO_TOKENS;
    return { ...used, turns: read ? turnsOf(read).length : 0 };
  }

  async #placedTurns(): Promise<PlacedTurn[]> {
    const read = await this.history.read();
    return read ? turnsOf(read) : [];
  }

  async #createBranch({ event, isFirst }: PlacedTurn, last: LoggedEvent | undefined, name: string): Promise<string> {
    if (name === MAIN) throw new InvalidInputError('must not be main, which is the session itself', 'name');
    const newSessionId = this.#idOf(name);
    // A replacement of the history counts with its last piece, so the fork needs that piece even if the turn is before it.
    const needed = !isFirst && last && event.seq <= last.seq ? last : undefined;
    const atSeq = isFirst ? (await this.history.bounds()).firstSeq - 1 : (needed?.seq ?? event.seq - 1);
    await this.options.sessions.forkSession({ ...this.history.key, atSeq, newSessionId });
    const labels = { [ROOT_LABEL]: this.#main.key.sessionId, [BRANCH_LABEL]: name };
    const label = { author: RECORD_AUTHOR, actions: { metadataDelta: { labels } } };
    const fork = this.#historyOf(name);
    await fork.changeAlone(needed ? await this.#changeBefore(event, fork, label) : { events: [label] });
    this.#use(name);
    return name;
  }

  /** Takes back the items from an event on, in the order of the conversation. */
  async #changeBefore({ id }: LoggedEvent, fork: SessionHistory, added: EventInput): Promise<HistoryChange> {
    const { events = [], entries = [] } = (await fork.read()) ?? {};
    const first = entries.find(({ event }) => event.id === id);
    const after = first ? entries.slice(entries.indexOf(first)) : [];
    return editedHistory({ events, entries }, new Map(after.map((entry) => [entry, undefined])), this.frame(), [added]);
  }

  async #assertBranch(name: string): Promise<void> {
    const key = { ...this.#main.key, sessionId: this.#idOf(name) };
    const session = await this.options.sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
    const { labels } = session?.metadata ?? {};
    const isBranch = labels?.[ROOT_LABEL] === this.#main.key.sessionId && labels[BRANCH_LABEL] === name;
    if (!isBranch) throw new SessionNotFoundError(key.sessionId);
  }

  #use(name: string): void {
    this.#current = name;
    this.history = this.#historyOf(name);
  }

  #historyOf(name: string): SessionHistory {
    const key = { ...this.#main.key, sessionId: this.#idOf(name) };
    // A turn belongs to one session.
    return name === MAIN ? this.#main : new SessionHistory(this.options.sessions, key, undefined);
  }

  #idOf(name: string): string {
    const { sessionId } = this.#main.key;
    if (name === MAIN) return sessionId;
    assertId(name, 'name');
    const id = `${sessionId}~${name}`;
    assertId(id, 'name');
    return id;
  }

  #branch(
    name: string,
    {
      id: sessionId,
      createTime,
      conversationCount: userTurns,
    }: { readonly id: string; readonly createTime: number; readonly conversationCount: number },
  ): Branch {
    return { name, sessionId, createTime, userTurns, isCurrent: name === this.#current };
  }
}
