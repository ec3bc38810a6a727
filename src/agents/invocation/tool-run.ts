import { setTimeout as delay } from 'node:timers/promises';
import { TurnLostError } from '../../sessions/domain/errors/errors.js';
import type { EventInput } from '../../sessions/domain/event/event.js';
import type { NumberedCall } from '../../sessions/domain/event/open-calls.js';
import { plainCopyOf } from '../../sessions/domain/values/plain-copy.js';
import { callWithin } from '../../sessions/domain/process/timeouts.js';
import { backoffMs } from '../../sessions/domain/process/backoff.js';
import { issuePath } from '../../state/standard-schema.js';
import { AgentsClosingError } from '../errors/closing-error.js';
import { readable } from '../errors/thrown.js';
import { ApprovalPending, ToolContext, type ToolInvocation, type ToolOutcome, type ToolStart } from './tool-context.js';
import { ToolError, ToolTimeoutError, errorResponse } from './tool-errors.js';
import type { CommitParts, TurnLog } from '../turn/turn-log.js';
import { type Tool, type ToolDefinition, type ToolOptions, checkedToolOptions } from './tool.js';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 30_000;
const ARGUMENTS_GONE = 'The arguments of this call were redacted while it waited. Call the tool again with them.';

/** The tools of calls, side by side. */
export class ToolRun {
  readonly #outcomes = new Map<NumberedCall, ToolOutcome>();
  /** When each tool is done, has failed, or waits. */
  readonly settled: Promise<readonly PromiseSettledResult<void>[]>;

  /**
   * @param defaults what happens when a tool fails that does not say so itself
   */
  constructor(
    context: ToolInvocation,
    readonly calls: readonly NumberedCall[],
    tools: Readonly<Record<string, Tool | ToolDefinition<object>>>,
    defaults: ToolOptions,
    log: Pick<TurnLog, 'report' | 'newParts'>,
  ) {
    const parts = log.newParts();
    const options = checkedToolOptions(defaults);
    this.settled = Promise.allSettled(
      calls.map(async (call) => {
        const { name } = call.call;
        const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
        this.#outcomes.set(call, await new ToolCall(context, call, tool, options, log, parts).outcome());
      }),
    );
  }

  /** One event with the responses of these tools that are done; none if none is. */
  responses(calls = this.calls): EventInput[] {
    const done = calls.map((call) => this.#outcomes.get(call)).filter((outcome) => outcome !== undefined);
    return done.length > 0 ? [ToolContext.respondAll(done)] : [];
  }

  /** One event with all responses. Throws if a tool ends the run, or waits for an approval. */
  async result(): Promise<EventInput> {
    const settled = await this.settled;
    const failures = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    const [failure] = failures.toSorted((one, other) => Number(isPending(one)) - Number(isPending(other)));
    if (failures.length > 0) throw failure;
    return this.responses()[0] ?? ToolContext.respondAll([]);
  }
}

/** What tools have done, and the handler has not yielded yet. Agents that work side by side run tools at the same time. */
export class DoneTools {
  #runs: ToolRun[] = [];

  add(run: ToolRun): void {
    this.#runs.push(run);
  }

  /** Forgets what is answered. */
  keepOnly(open: readonly NumberedCall[]): void {
    this.#runs = this.#runs.filter(({ calls }) => calls.some((call) => open.includes(call)));
  }

  /** Their responses to calls that are open. */
  responses(open: readonly NumberedCall[]): EventInput[] {
    return this.#runs.flatMap((run) => run.responses(run.calls.filter((call) => open.includes(call))));
  }

  /** Waits until no tool works any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#runs.map((run) => run.settled));
  }
}

/** A call, from its arguments to its response. */
class ToolCall {
  readonly #tool: Pick<ToolDefinition<object>, 'input' | 'approval' | 'run'> | undefined;
  readonly #options: ToolOptions;
  /** How many approvals were asked for before the tool ran. */
  #asked = 0;
  #last: ToolContext | undefined;

  constructor(
    private readonly context: ToolInvocation,
    private readonly call: NumberedCall,
    tool: Tool | ToolDefinition<object> | undefined,
    defaults: ToolOptions,
    private readonly log: Pick<TurnLog, 'report'>,
    /** The responses of the other calls, with which its own is stored. */
    private readonly parts: CommitParts,
  ) {
    this.#tool = typeof tool === 'function' ? { run: tool } : tool;
    const { retries, timeoutMs, onError } = typeof tool === 'object' ? checkedToolOptions(tool) : {};
    this.#options = {
      retries: retries ?? defaults.retries,
      timeoutMs: timeoutMs ?? defaults.timeoutMs,
      onError: onError ?? defaults.onError,
    };
  }

  async outcome(): Promise<ToolOutcome> {
    const { name } = this.call.call;
    if (!this.#tool) return this.#corrected('does not exist', `There is no tool ${JSON.stringify(name)}.`);
    if (this.call.isRedacted) return this.#corrected('was not called', ARGUMENTS_GONE);
    try {
      const { args, problem } = await this.#checkedArgs();
      if (problem !== undefined) return this.#corrected('got wrong arguments', `Wrong arguments: ${problem}`);
      return (await this.#refused(args)) ?? this.#checked(await this.#attempts(args));
    } catch (error) {
      return this.#failed(readable(error));
    }
  }

  /** What the model can do better is told to it, whatever happens when tools fail. */
  #corrected(problem: string, message: string): ToolOutcome {
    this.#report(`${problem}; the model is told`, message);
    return { tool: this.#newContext(), response: { error: message } };
  }

  async #checkedArgs(): Promise<{ readonly args: object; readonly problem?: string }> {
    const { args } = this.call.call;
    const result = await this.#within(async () => this.#tool?.input?.['~standard'].validate(plainCopyOf(args)));
    if (!result) return { args };
    if (!result.issues) return { args: result.value };
    const problems = result.issues.map((issue) =>
      [issuePath(issue).slice(1), issue.message].filter(Boolean).join(': '),
    );
    return { args, problem: problems.join('; ') };
  }

  /** The response of a tool that must not run. */
  async #refused(args: object): Promise<ToolOutcome | undefined> {
    const { tool, request } = await this.#within(async (signal) => {
      const asking = this.#newContext({ signal });
      return { tool: asking, request: await this.#tool?.approval?.(plainCopyOf(args), asking) };
    });
    if (!request) return undefined;
    const result = await tool.requestApproval(request);
    this.#asked = tool.requests;
    return result.confirmed ? undefined : { tool: this.#newContext(), response: { error: result.reason } };
  }

  async #attempts(args: object): Promise<ToolOutcome> {
    const { times = 0, backoffMs: firstMs = FIRST_PAUSE_MS, when = () => true } = this.#options.retries ?? {};
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(args);
      } catch (error) {
        if (attempt > times || this.#endsRun(error) || !when(error)) throw error;
        this.#report(`failed, and is called again (${attempt} of ${times})`, error);
        const pauseMs = backoffMs(attempt, { firstMs, maxMs: LONGEST_PAUSE_MS }, Math.random());
        await delay(pauseMs, undefined, { signal: this.context.signal });
      }
    }
  }

  /** With a context of its own: an attempt that fails leaves nothing. */
  async #attempt(args: object): Promise<ToolOutcome> {
    return this.#within(async (signal) => this.#called(args, signal));
  }

  /** Nothing that a tool does may take longer than its time. */
  async #within<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { timeoutMs } = this.#options;
    const { signal } = this.context;
    if (timeoutMs === undefined) return work(signal);
    return callWithin({ limitMs: timeoutMs, signal, timeoutError: tooLate }, work);
  }

  async #called(args: object, signal: AbortSignal): Promise<ToolOutcome> {
    const tool = this.#newContext({ signal });
    const [result] = await Promise.allSettled([(async () => this.#tool?.run(plainCopyOf(args), tool))()]);
    // Whatever a tool returns or throws that caught it is no response.
    if (tool.isWaiting) throw new ApprovalPending();
    if (result.status === 'rejected') throw result.reason;
    return { tool, response: result.value };
  }

  async #failed(error: unknown): Promise<ToolOutcome> {
    const { onError = 'tell-model' } = this.#options;
    if (onError === 'fail' || this.#endsRun(error)) throw error;
    this.#report('failed; the model is told', error);
    // What it asks comes after what the tool has asked.
    const tool = this.#newContext({ requests: this.#last?.requests });
    if (onError === 'tell-model') return { tool, response: errorResponse(error) };
    return this.#checked({ tool, response: await onError(error, tool) });
  }

  /** What cannot be stored must not take with it what the other tools did. The tool has run, so it is not called again. */
  #checked(outcome: ToolOutcome): ToolOutcome {
    try {
      this.parts.add({ ...outcome.tool.draft(outcome.response), invocationId: this.context.invocationId });
      return outcome;
    } catch (error) {
      throw new ToolError(this.call.call.name, 'has run, but what it returned or changed cannot be stored', error);
    }
  }

  /** The end of the run, or its wish to wait, is no failure of the tool. */
  #endsRun(error: unknown): boolean {
    const isEnd = error instanceof TurnLostError || error instanceof AgentsClosingError;
    return isPending(error) || isEnd || this.context.signal.aborted;
  }

  #newContext({ signal, requests = this.#asked }: ToolStart = {}): ToolContext {
    return (this.#last = new ToolContext(this.context, this.call.call, { signal, requests }));
  }

  #report(problem: string, cause: unknown): void {
    this.log.report(new ToolError(this.call.call.name, problem, cause));
  }
}

function tooLate(limitMs: number): Error {
  return new ToolTimeoutError(limitMs);
}

function isPending(error: unknown): boolean {
  return error instanceof ApprovalPending;
}
