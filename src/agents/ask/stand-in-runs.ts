import { TurnHeldError } from '../../sessions/domain/errors/errors.js';
import { type AgentEnvironment, holderOf } from '../turn/agent-environment.js';
import { AgentsClosingError } from '../errors/closing-error.js';
import { inQueueOrder, queuedIn } from '../turn/control-events.js';
import type { QueuePlace } from '../turn/queue-place.js';
import { readQueue } from './queue.js';
import type { KeptRequest } from './run-request.js';
import type { RunHandler } from '../invocation/agent-context.js';
import { TurnWork } from './turn-work.js';
import { untilAborted } from '../turn/turn-news.js';
import { RunEvents } from '../turn/run-events.js';
import type { RunProcess } from './run-process.js';

/** After as many failures of the message before it, a request fails as well. */
const MAX_FAILURES = 3;

/** What is before a request in the queue, while its process has died, or has left it to others. */
export class StandInRuns {
  /** The message that failed last. */
  #failed: { readonly invocationId: string; readonly times: number; readonly error: unknown } | undefined;

  constructor(
    private readonly env: AgentEnvironment,
    private readonly request: KeptRequest,
    private readonly handler: RunHandler,
    private readonly process: RunProcess,
  ) {}

  /** How often the first one failed in a row. Throws its error if that is too often. */
  get failures(): number {
    const { times, error } = this.#failed ?? { times: 0 };
    if (times >= MAX_FAILURES) throw error;
    return times;
  }

  /**
   * Answers the first one, in a turn of its own. Returns whether there was one.
   *
   * @param signal ends only the waiting for it: who stops a request does not stop the message of another one
   * @param entry the request's own place
   */
  async runFirst(signal: AbortSignal, entry?: QueuePlace): Promise<boolean> {
    const { env, request } = this;
    const session = await env.sessions.getSession({ ...request.key, config: { numRecentEvents: 0 } });
    const others = new Set(session && queuedIn(session));
    others.delete(request.invocationId);
    const queue = await readQueue(env, request.key, others);
    const [first] = inQueueOrder(entry ? [...queue, entry] : queue);
    if (!first || first === entry) return false;
    const work = this.#run(first);
    this.process.keep(work);
    await untilAborted(work, signal);
    return true;
  }

  async #run(first: QueuePlace): Promise<void> {
    const { env, request, handler, process } = this;
    const { invocationId, message = {}, policy, stateDelta, customMetadata, rewindTo } = first;
    const asked = { invocationId, message, policy, stateDelta, customMetadata, rewindTo };
    const due = { ...request, ...asked, answer: undefined, state: undefined, retriesFailure: false, entry: first };
    const work = new TurnWork(env, due, handler, new RunEvents(), process.closing);
    const turn = { ...request.key, holder: holderOf(invocationId), ttlMs: env.turnTtlMs };
    let hasBegun = false;
    // Its caller, if there is one, follows the log. A failing handler left a clean log.
    try {
      await env.sessions.withTurn(turn, async (held) => {
        hasBegun = true;
        return work.run(held, undefined);
      });
      this.#failed = undefined;
    } catch (error) {
      if (error instanceof AgentsClosingError || (!hasBegun && error instanceof TurnHeldError)) return;
      const times = this.#failed?.invocationId === invocationId ? this.#failed.times : 0;
      this.#failed = { invocationId, times: times + 1, error };
      env.onError(error);
    }
  }
}
