import type { FunctionCall, Part } from '../sessions/domain/event.js';
import type { EventActionsInput, EventInput } from '../sessions/domain/event.js';
import { isTempKey } from '../state/scopes.js';
import { type StateChanges, foldChanges, hasChanges } from '../state/state-changes.js';
import { State, trackedValuesOf } from '../state/state.js';
import type { ApprovalAnswer, ApprovalRequest } from './approvals.js';

/** A tool: gets the arguments of the call, and its context. */
export type Tool = (args: Readonly<Record<string, unknown>>, context: ToolContext) => unknown;

/** The invocation of a tool. */
export interface ToolInvocation {
  readonly state: State;
  readonly invocationId: string;
  readonly signal: AbortSignal;
  requestApproval<Payload>(request: ApprovalRequest<Payload>, call?: FunctionCall): Promise<ApprovalAnswer<Payload>>;
}

/**
 * Ends an invocation until an approval is answered. Thrown by `requestApproval`; do not catch it.
 *
 * @example if (error instanceof ApprovalPending) throw error; // in a tool that catches everything
 */
export class ApprovalPending extends Error {
  /** @param before what has to be stored before the request */
  constructor(readonly before: readonly EventInput[] = []) {
    super('The invocation waits for an approval: do not catch this error');
    this.name = 'ApprovalPending';
  }
}

/**
 * What a tool works with. What it changes in `state` and `actions` is stored with its response.
 *
 * @example
 * async function refund(args: { order: string }, tool: ToolContext) {
 *   tool.state['temp:order'] = args.order; // for later tools of this invocation, never stored
 *   tool.state.refunds = tool.state.get('refunds', 0) + 1;
 *   return { refunded: args.order };
 * }
 */
export class ToolContext {
  /** The state when the tool began, with its own changes. */
  readonly state: State;
  /** Further effects of the response, such as `transferToAgent` or `artifactDelta`. */
  readonly actions: EventActionsInput = {};

  /** The `temp:` values when the tool began. */
  readonly #temp: ReadonlyMap<string, unknown>;
  #isBlocked = false;

  constructor(
    private readonly context: ToolInvocation,
    /** The call to respond to. */
    readonly call: FunctionCall,
  ) {
    const values = context.state.getAll();
    this.state = new State(values);
    this.#temp = new Map(Object.entries(values).filter(([key]) => isTempKey(key)));
  }

  get functionCallId(): string | undefined {
    return this.call.id;
  }

  get invocationId(): string {
    return this.context.invocationId;
  }

  /** Aborts when the run is stopped or interrupted, and when its turn is lost. */
  get signal(): AbortSignal {
    return this.context.signal;
  }

  /**
   * Asks the user. Returns the answer if there is one; otherwise the turn ends here, and the handler is called again when the
   * approval is answered.
   *
   * @example
   * const { confirmed } = await tool.requestApproval({ hint: `Refund ${args.order}?` });
   * if (!confirmed) return { error: 'The user refused.' };
   */
  async requestApproval<Payload = unknown>(request: ApprovalRequest<Payload> = {}): Promise<ApprovalAnswer<Payload>> {
    try {
      return await this.context.requestApproval(request, this.call);
    } catch (error) {
      // Whatever a tool that catches it returns is no response.
      this.#isBlocked ||= error instanceof ApprovalPending;
      throw error;
    }
  }

  /** Says that the response holds a version of an artifact. Save the artifact itself before. */
  noteArtifact(name: string, version: number): void {
    this.actions.artifactDelta = { ...this.actions.artifactDelta, [name]: version };
  }

  /**
   * The event with the response, for `yield`. From now on, the invocation sees the changes of the tool.
   *
   * @example yield tool.respond({ refunded: order });
   */
  respond(response: unknown): EventInput {
    return responseEvent([this.#take(response)]);
  }

  /**
   * Runs the tools of calls side by side. Those that are done are stored, even if others fail or wait for an approval.
   *
   * @param keep gets what makes an event of those that are done, in case that nothing yields it
   */
  static async runAll(
    context: ToolInvocation,
    calls: readonly FunctionCall[],
    tools: Readonly<Record<string, Tool>>,
    keep: (done: () => EventInput[]) => void,
  ): Promise<EventInput> {
    const running = calls.map((call) => new ToolContext(context, call));
    const results = new Map<ToolContext, unknown>();
    const done = (): EventInput[] => {
      const responses = running.filter((tool) => results.has(tool)).map((tool) => tool.#take(results.get(tool)));
      return responses.length > 0 ? [responseEvent(responses)] : [];
    };
    keep(done);
    const outcomes = await Promise.allSettled(
      running.map(async (tool) => {
        const result = await tool.#run(tools);
        if (!tool.#isBlocked) results.set(tool, result);
      }),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected' && !isPending(outcome));
    if (failed?.status === 'rejected') throw failed.reason;
    if (results.size < running.length) throw new ApprovalPending(done());
    return done()[0] ?? responseEvent([]);
  }

  async #run(tools: Readonly<Record<string, Tool>>): Promise<unknown> {
    const { name = '', args = {} } = this.call;
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (!tool) return { error: `There is no tool ${JSON.stringify(name)}.` };
    return tool(args, this);
  }

  #take(response: unknown): ToolResponse {
    const { stateDelta, stateRemovals, ...actions } = this.actions;
    const given = { stateDelta: stateDelta ?? {}, stateRemovals: stateRemovals ?? [] };
    const changes = foldChanges([given, trackedValuesOf(this.state).pending()]);
    const shared = trackedValuesOf(this.context.state);
    shared.applyStored(changes);
    this.#passOnTemp(shared);
    const { id, name = '' } = this.call;
    const wrapped = isObject(response) ? response : { result: response ?? null };
    return {
      part: { functionResponse: { ...(id !== undefined && { id }), name, response: wrapped } },
      changes,
      actions,
    };
  }

  /** Only what it changed itself: other tools run beside it. */
  #passOnTemp(shared: Pick<State, 'set' | 'delete'>): void {
    for (const key of this.#temp.keys()) if (!this.state.has(key)) shared.delete(key);
    for (const [key, value] of Object.entries(this.state.getAll())) {
      if (isTempKey(key) && this.#temp.get(key) !== value) shared.set(key, value);
    }
  }
}

function isPending({ reason }: PromiseRejectedResult): boolean {
  return reason instanceof ApprovalPending;
}

interface ToolResponse {
  readonly part: Part;
  readonly changes: StateChanges;
  readonly actions: EventActionsInput;
}

function responseEvent(responses: readonly ToolResponse[]): EventInput {
  const changes = foldChanges(responses.map((response) => response.changes));
  return {
    content: { role: 'user', parts: responses.map(({ part }) => part) },
    actions: {
      ...joinedActions(responses.map(({ actions }) => actions)),
      ...(hasChanges(changes) && { stateDelta: changes.stateDelta, stateRemovals: [...changes.stateRemovals] }),
    },
  };
}

/** As in ADK, the effects of parallel tools are merged: objects are joined, and of other values later ones win. */
function joinedActions(all: readonly EventActionsInput[]): EventActionsInput {
  const joined = new Map<string, unknown>();
  for (const [name, value] of all.flatMap((actions) => Object.entries(actions))) {
    const before = joined.get(name);
    // Names such as `__proto__` are names, too.
    const both = isObject(before) && isObject(value) && [...Object.entries(before), ...Object.entries(value)];
    joined.set(name, both ? Object.fromEntries(both) : value);
  }
  return Object.fromEntries(joined);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
