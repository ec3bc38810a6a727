import {
  AgentFailedError,
  AgentSessions,
  type ApprovalAnswer,
  type PendingApproval,
  type RunHandler,
  type RunRequest,
  type RunStatus,
} from '../../agents/index.js';
import type { EventInput } from '../../sessions/domain/event/event.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { InMemorySessionStorage } from '../../sessions/storage/in-memory/in-memory-session-storage.js';
import { SessionService } from '../../sessions/session.service.js';
import type { SessionStorage } from '../../sessions/storage/session-storage.js';
import { ManualClock } from '../manual-clock.js';
import { type SaidEvent, type StateDifference, saidEvents, stateDifferences } from './said-event.js';

/** What a scenario begins with. */
export interface GivenSession extends Partial<SessionKey> {
  /** State with all prefixes. */
  readonly state?: Record<string, unknown> | undefined;
  /** Events in the log, oldest first. */
  readonly events?: readonly EventInput[] | undefined;
  /** Default: a clock that stands still until the test moves it. */
  readonly clock?: ManualClock | undefined;
  /** Default: in memory. The test closes a store that it gives. */
  readonly storage?: SessionStorage | undefined;
}

/** What a turn did. */
export interface TurnOutcome {
  readonly status: RunStatus;
  /** What the agent said and did, without the message. */
  readonly events: readonly SaidEvent[];
  /** The last text of the turn; empty if there was none. */
  readonly text: string;
  /** The state after the turn, with all prefixes, without `temp:`. */
  readonly state: Readonly<Record<string, unknown>>;
  /** Which keys the turn changed. */
  readonly changes: readonly StateDifference[];
}

/** How a message is answered. */
export type TurnOptions = Omit<Partial<RunRequest>, keyof SessionKey | 'newMessage'>;

/**
 * A session for tests of an agent: given events, when a turn runs, then events and state. Works in every test runner.
 *
 * @example
 * const scenario = await AgentScenario.given({ state: { 'user:name': 'Ann' } });
 * const turn = await scenario.whenTurn('Where is my order?', agent);
 * expect(turn.text).toBe('Ann, it is on its way.');
 * expect(turn.changes).toEqual([{ key: 'orders', before: undefined, after: 1 }]);
 * await scenario.close();
 */
export class AgentScenario {
  readonly agents: AgentSessions;

  private constructor(
    readonly sessions: SessionService,
    readonly key: SessionKey,
    readonly clock: ManualClock,
    private readonly isOurs: boolean,
  ) {
    // The test gets it.
    this.agents = new AgentSessions({ sessions, onRunFailure: () => undefined });
  }

  /** Creates the session. */
  static async given({
    state,
    events = [],
    clock = new ManualClock(),
    storage,
    ...ids
  }: GivenSession = {}): Promise<AgentScenario> {
    const sessions = new SessionService({ storage: storage ?? new InMemorySessionStorage({ clock }), clock });
    const key = { appName: 'test', userId: 'user', sessionId: 'session', ...ids };
    const session = await sessions.createSession({ ...key, state });
    for (const event of events) await sessions.appendEvent({ session, event: { author: 'user', ...event } });
    return new AgentScenario(sessions, key, clock, storage === undefined);
  }

  /** Runs a turn. Rejects with what the agent throws. */
  async whenTurn(
    newMessage: RunRequest['newMessage'],
    agent: RunHandler,
    options: TurnOptions = {},
  ): Promise<TurnOutcome> {
    return this.#outcomeOf(() => this.agents.run({ ...options, ...this.key, newMessage }, agent).result);
  }

  /** Answers the approval that the session waits for, and goes on with the turn. */
  async whenApproved(answer: ApprovalAnswer, agent: RunHandler): Promise<TurnOutcome> {
    const [pending] = await this.pendingApprovals();
    if (!pending) throw new Error('The session waits for no approval. Run a turn that asks for one first.');
    const { approvalId } = pending;
    return this.#outcomeOf(() => this.agents.answerApproval({ ...this.key, approvalId, answer }, agent).result);
  }

  async pendingApprovals(): Promise<readonly PendingApproval[]> {
    const { approvals } = await this.agents.pendingApprovals({ appName: this.key.appName, userId: this.key.userId });
    return approvals.filter(({ sessionId }) => sessionId === this.key.sessionId);
  }

  /** What the whole log says. */
  async events(): Promise<readonly SaidEvent[]> {
    return saidEvents((await this.#session()).events);
  }

  /** The state with all prefixes. */
  async state(): Promise<Readonly<Record<string, unknown>>> {
    return (await this.#session()).state.toRecord();
  }

  /** Ends what runs, and closes the store unless the test gave it. */
  async close(): Promise<void> {
    await this.agents.close({ drainMs: 0 });
    await (this.isOurs ? this.sessions.close() : this.sessions.finish());
  }

  async #outcomeOf(run: () => ReturnType<AgentSessions['run']>['result']): Promise<TurnOutcome> {
    const before = await this.state();
    const { status, events } = await run().catch(throwCause);
    const said = saidEvents(events);
    const state = await this.state();
    const text = said.findLast((event) => event.text !== undefined)?.text ?? '';
    return { status, events: said, text, state, changes: stateDifferences(before, state) };
  }

  async #session() {
    const session = await this.sessions.getSession(this.key);
    if (!session) throw new Error('The session is gone: it was deleted, or the clock was moved beyond its expiry.');
    return session;
  }
}

/** A test wants to know what the agent threw. */
function throwCause(error: unknown): never {
  throw error instanceof AgentFailedError ? error.cause : error;
}
