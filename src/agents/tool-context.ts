import type { FunctionCall, Part } from '../sessions/domain/event.js';
import { getFunctionCalls } from '../sessions/domain/event-inspection.js';
import type { EventActionsInput, EventInput } from '../sessions/domain/event.js';
import { isTempKey } from '../state/scopes.js';
import { type StateChanges, foldChanges, hasChanges } from '../state/state-changes.js';
import { State, trackedValuesOf } from '../state/state.js';

/** A tool: gets the arguments of the call, and its context. */
export type Tool = (args: Readonly<Record<string, unknown>>, context: ToolContext) => unknown;

/** The invocation of a tool. */
export interface ToolInvocation {
  readonly state: State;
  readonly invocationId: string;
  readonly signal: AbortSignal;
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

  readonly #tempKeys: readonly string[];

  constructor(
    private readonly context: ToolInvocation,
    /** The call to respond to. */
    readonly call: FunctionCall,
  ) {
    const values = context.state.getAll();
    this.state = new State(values);
    this.#tempKeys = Object.keys(values).filter(isTempKey);
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

  /** Runs the tools of all calls of an event side by side. */
  static async runAll(
    context: ToolInvocation,
    event: EventInput,
    tools: Readonly<Record<string, Tool>>,
  ): Promise<EventInput> {
    const calls = getFunctionCalls(event).map((call) => new ToolContext(context, call));
    const responses = await Promise.all(calls.map((tool) => tool.#run(tools)));
    return responseEvent(calls.map((tool, index) => tool.#take(responses[index])));
  }

  async #run(tools: Readonly<Record<string, Tool>>): Promise<unknown> {
    const { name = '', args = {} } = this.call;
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (!tool) return { error: `There is no tool ${JSON.stringify(name)}.` };
    return tool(args, this);
  }

  #take(response: unknown): ToolResponse {
    const changes = trackedValuesOf(this.state).pending();
    const shared = trackedValuesOf(this.context.state);
    shared.applyStored(changes);
    this.#passOnTemp(shared);
    const { id, name = '' } = this.call;
    const wrapped = isObject(response) ? response : { result: response ?? null };
    return {
      part: { functionResponse: { ...(id !== undefined && { id }), name, response: wrapped } },
      changes,
      actions: this.actions,
    };
  }

  #passOnTemp(shared: Pick<State, 'set' | 'delete'>): void {
    for (const key of this.#tempKeys) if (!this.state.has(key)) shared.delete(key);
    for (const [key, value] of Object.entries(this.state.getAll())) if (isTempKey(key)) shared.set(key, value);
  }
}

interface ToolResponse {
  readonly part: Part;
  readonly changes: StateChanges;
  readonly actions: EventActionsInput;
}

/** As in ADK, the effects of parallel tools are merged: later ones win. */
function responseEvent(responses: readonly ToolResponse[]): EventInput {
  const changes = foldChanges(responses.map((response) => response.changes));
  const artifactDelta = Object.assign({}, ...responses.map(({ actions }) => actions.artifactDelta)) as object;
  return {
    content: { role: 'user', parts: responses.map(({ part }) => part) },
    actions: {
      ...(Object.assign({}, ...responses.map(({ actions }) => actions)) as EventActionsInput),
      ...(Object.keys(artifactDelta).length > 0 && { artifactDelta: { ...artifactDelta } }),
      ...(hasChanges(changes) && { stateDelta: changes.stateDelta, stateRemovals: [...changes.stateRemovals] }),
    },
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
