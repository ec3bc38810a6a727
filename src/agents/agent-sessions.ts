import { type IdGenerator, randomId } from '../sessions/domain/clock.js';
import { SessionNotFoundError } from '../sessions/domain/errors.js';
import { type SessionKey, checkedSessionKey } from '../sessions/domain/ids.js';
import { requireRequest } from '../sessions/domain/input-checks.js';
import { referenceTo } from '../sessions/domain/session.js';
import type { SessionService } from '../sessions/session.service.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import { type AgentEnvironment, invocationOf } from './agent-environment.js';
import { AgentRun } from './agent-run.js';
import { queuedIn, stopEvent, withdrawEvent } from './control-events.js';
import { RequestedRun } from './requested-run.js';
import { type AgentHandler, type RunRequest, checkedRun } from './run-request.js';

/** The parts and settings of {@link AgentSessions}. */
export interface AgentSessionsOptions {
  readonly sessions: SessionService;
  /** The storage of `sessions`. */
  readonly storage: SessionStorage;
  /** How long a session waits after a crash of the process that answers. Default: 30 seconds. */
  readonly turnTtlMs?: number | undefined;
  /** How often a waiting message looks whether its turn has come, besides signals. Default: 1,000 ms. */
  readonly pollMs?: number | undefined;
  /** How long a free turn waits for the process of the first message in the queue. Default: 5,000 ms. */
  readonly graceMs?: number | undefined;
  /** Generates missing ids. Default: UUIDs. */
  readonly newId?: IdGenerator | undefined;
  /** Receives errors of work in the background. Default: a warning on the console. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The invocation to stop. */
export interface StopRunRequest extends SessionKey {
  /** Default: the one that runs. */
  readonly invocationId?: string | undefined;
}

/**
 * Runs agents in sessions: one message at a time gets an answer, and the log is whole however a run ends.
 *
 * @example
 * const agents = new AgentSessions({ sessions, storage });
 * const run = agents.run({ appName: 'shop', userId: 'ann', sessionId: 's-1', newMessage: 'Hello', policy: 'enqueue' }, answer);
 * for await (const event of run) console.log(event.content);
 */
export class AgentSessions {
  readonly #env: AgentEnvironment;
  readonly #running = new Set<AgentRun>();
  readonly #closing = new AbortController();

  constructor(options: AgentSessionsOptions) {
    const { sessions, storage, newId = randomId, onError = warnOf } = options;
    const { turnTtlMs = 30_000, pollMs = 1_000, graceMs = 5_000 } = options;
    this.#env = { sessions, storage, newId, turnTtlMs, pollMs, graceMs, onError };
  }

  /**
   * Answers a message. Creates the session if there is none, holds its turn, stores the message, and what the handler
   * yields. `policy` decides what happens while another turn runs.
   *
   * @example
   * const run = agents.run({ appName: 'shop', userId: 'ann', newMessage: 'Where is my order?' }, async function* (context) {
   *   yield { content: { role: 'model', parts: [{ text: await ask(context.history, context.signal) }] } };
   * });
   * const { session, events } = await run.result;
   */
  run(request: RunRequest, handler: AgentHandler): AgentRun {
    const checked = checkedRun(requireRequest(request), this.#env.newId);
    const signals = [this.#closing.signal, ...(request.signal ? [request.signal] : [])];
    const run = new AgentRun(checked.invocationId, checked.key.sessionId, (tell) =>
      new RequestedRun(this.#env, checked, handler, tell, AbortSignal.any(signals)).perform(),
    );
    this.#running.add(run);
    void run.result.catch(() => undefined).finally(() => this.#running.delete(run));
    return run;
  }

  /**
   * Stops a run, or takes back a waiting message, from any process. Returns whether there was one. The run ends soon, with a
   * clean log.
   *
   * @example await agents.stop({ appName: 'shop', userId: 'ann', sessionId });
   */
  async stop(request: StopRunRequest): Promise<boolean> {
    const key = checkedSessionKey(requireRequest(request));
    const { sessions } = this.#env;
    const turn = await sessions.getTurn(key);
    const running = turn && invocationOf(turn.holder);
    const wanted = request.invocationId ?? running;
    if (wanted === undefined) return false;
    const isRunning = wanted === running;
    if (!isRunning && !(await this.#isQueued(key, wanted))) return false;
    const event = isRunning ? stopEvent({ invocationId: wanted }) : withdrawEvent(wanted);
    await sessions.appendEvents({ session: referenceTo(key), events: [event] });
    return true;
  }

  /**
   * Stops the runs of this process, and waits for them.
   * @example await agents.close(); // before sessions.close()
   */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#running].map(({ result }) => result));
  }

  async #isQueued(key: SessionKey, invocationId: string): Promise<boolean> {
    const session = await this.#env.sessions.getSession({ ...key, config: { numRecentEvents: 0 } });
    if (!session) throw new SessionNotFoundError(key.sessionId);
    return queuedIn(session).has(invocationId);
  }
}

function warnOf(error: unknown): void {
  console.warn('nestjs-agent-sessions: work of a run in the background failed', error);
}
