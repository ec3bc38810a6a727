import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../config/setting.js';
import type { FunctionCall, Part } from '../../sessions/domain/event/content.js';
import type { EventActionsInput, EventInput } from '../../sessions/domain/event/event.js';
import { type NamedCall, namedCall } from '../../sessions/domain/event/open-calls.js';
import { plainCopyOf } from '../../sessions/domain/values/plain-copy.js';
import { isTempKey } from '../../state/scopes.js';
import { type StateChanges, foldChanges, hasChanges } from '../../state/state-changes.js';
import { State, trackedValuesOf } from '../../state/state.js';
import type { TrackedValues } from '../../state/tracked-values.js';
import type { ApprovalRequest, ApprovalResult } from './approval-requests.js';

/** The invocation of a tool. */
export interface ToolInvocation {
  /** The agent that made the call, and its branch. */
  readonly agentName: string;
  readonly branch?: string | undefined;
  readonly state: State;
  readonly invocationId: string;
  readonly signal: AbortSignal;
  requestApproval<Payload>(
    request: ApprovalRequest<Payload>,
    call?: FunctionCall,
    number?: number,
  ): Promise<ApprovalResult<Payload>>;
}

/**
 * Ends an invocation until an approval is answered. Thrown by `requestApproval`; do not catch it.
 *
 * @example if (error instanceof ApprovalPending) throw error; // in a tool that catches everything
 */
export class ApprovalPending extends Error {
  constructor() {
    super('The invocation waits for an approval: do not catch this error');
    this.name = 'ApprovalPending';
  }
}

/** What a tool's context begins with. */
export interface ToolStart {
  /** Aborts when the tool has to end. Default: with the run. */
  readonly signal?: AbortSignal | undefined;
  /** How many approvals were asked for the call before. Default: none. */
  readonly requests?: number | undefined;
}

/** What a tool did. */
export interface ToolOutcome {
  readonly tool: ToolContext;
  readonly response: unknown;
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
  /** The state when the tool began, with its own changes. A copy: the invocation gets the changes with the response. */
  readonly state: State;
  /** Further effects of the response, such as `transferToAgent` or `artifactDelta`. */
  readonly actions: EventActionsInput = {};
  /** The call to respond to. */
  readonly call: NamedCall;
  /** Aborts when the run is stopped or interrupted, when its turn is lost, and when the time of the tool is up. */
  readonly signal: AbortSignal;

  /** The `temp:` values when the tool began. */
  readonly #temp: Readonly<Record<string, unknown>>;
  readonly #asked: FunctionCall;
  readonly #changes: { readonly key: string; readonly next: (value: unknown) => unknown }[] = [];
  #requests: number;
  #isWaiting = false;
  #taken: ToolResponse | undefined;

  constructor(
    private readonly context: ToolInvocation,
    call: FunctionCall,
    { signal = context.signal, requests = 0 }: ToolStart = {},
  ) {
    const values = context.state.toJSON();
    this.state = new State(plainCopyOf(values));
    this.#temp = plainCopyOf(Object.fromEntries(Object.entries(values).filter(([key]) => isTempKey(key))));
    this.call = plainCopyOf(namedCall(call));
    this.#asked = call;
    this.signal = signal;
    this.#requests = requests;
  }

  /** The arguments of the call. */
  get args(): Readonly<Record<string, unknown>> {
    return this.call.args;
  }

  get functionCallId(): string | undefined {
    return this.call.id;
  }

  get invocationId(): string {
    return this.context.invocationId;
  }

  /** How many approvals were asked for the call, without those that have an id. */
  get requests(): number {
    return this.#requests;
  }

  /** Whether it has asked for an approval that is not answered. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /**
   * Asks the user. Returns the answer if there is one; otherwise the turn ends here, and the handler is called again when the
   * approval is answered. A tool may ask several times: what it asks, and in which order, must depend on its arguments and the
   * state alone.
   *
   * @example
   * const { confirmed } = await tool.requestApproval({ hint: `Refund ${args.order}?` });
   * if (!confirmed) return { error: 'The user refused.' };
   */
  async requestApproval<Payload = unknown>(request: ApprovalRequest<Payload> = {}): Promise<ApprovalResult<Payload>> {
    // A tool whose time is up, or whose run has ended, goes on without effect.
    this.signal.throwIfAborted();
    const number = request.id === undefined ? ++this.#requests : undefined;
    try {
      return await this.context.requestApproval(request, this.#asked, number);
    } catch (error) {
      this.#isWaiting ||= error instanceof ApprovalPending;
      throw error;
    }
  }

  /**
   * Changes a value of the state when the response is made: gets the value with the changes of the tools before it. Of values that
   * parallel tools set in `state`, the last one is kept. `state` does not show the change. `next` may be called more than once.
   *
   * @example tool.change('found', (found: string[] = []) => [...found, url]);
   */
  change<Value>(key: string, next: (value: Value | undefined) => Value): void {
    this.#changes.push({ key, next: next as (value: unknown) => unknown });
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
    return ToolContext.respondAll([{ tool: this, response }]);
  }

  /**
   * One event with the responses of several tools, which all have this invocation.
   *
   * @example yield ToolContext.respondAll([{ tool: weather, response: 'sun' }, { tool: time, response: '12:00' }]);
   */
  static respondAll(outcomes: readonly ToolOutcome[]): EventInput {
    return responseEvent(
      outcomes.map(({ tool, response }) => tool.#take(response)),
      outcomes[0]?.tool.context,
    );
  }

  /** The event with the response, as it would be now. Changes nothing. */
  draft(response: unknown): EventInput {
    return responseEvent([this.#made(response)], this.context);
  }

  /** Once: what the tool changes after its response counts for nothing. */
  #take(response: unknown): ToolResponse {
    if (this.#taken) return this.#taken;
    this.#taken = this.#made(response);
    const shared = trackedValuesOf(this.context.state);
    // The invocation may change it further, and the event keeps what it is now.
    shared.applyStored(plainCopyOf(this.#taken.changes));
    this.#passOnTemp(shared);
    return this.#taken;
  }

  #made(response: unknown): ToolResponse {
    const { stateDelta, stateRemovals, ...actions } = this.actions;
    const shared = trackedValuesOf(this.context.state);
    const given = { stateDelta: stateDelta ?? {}, stateRemovals: stateRemovals ?? [] };
    const set = foldChanges([given, trackedValuesOf(this.state).pending()]);
    const changes = plainCopyOf(foldChanges([set, this.#changed(set, shared)]));
    const { id, name } = this.call;
    const wrapped = isRecord(response) ? response : { result: response ?? null };
    return {
      part: { functionResponse: { ...(id !== undefined && { id }), name, response: wrapped } },
      changes,
      actions: plainCopyOf(actions),
    };
  }

  /** Each on top of what the tool itself, or the tools before it, left. */
  #changed(set: StateChanges, shared: Pick<TrackedValues, 'peek'>): StateChanges {
    const values = new Map<string, unknown>(set.stateRemovals.map((key) => [key, undefined]));
    for (const [key, value] of Object.entries(set.stateDelta)) values.set(key, value);
    const changed = this.#changes.map(({ key, next }) => {
      const value = next(plainCopyOf(values.has(key) ? values.get(key) : shared.peek(key)));
      values.set(key, value);
      return value === undefined
        ? { stateDelta: {}, stateRemovals: [key] }
        : { stateDelta: Object.fromEntries([[key, value]]), stateRemovals: [] };
    });
    return foldChanges(changed);
  }

  /** Only what it changed itself: other tools run beside it. */
  #passOnTemp(shared: Pick<State, 'set' | 'delete'>): void {
    for (const key of Object.keys(this.#temp)) if (!this.state.has(key)) shared.delete(key);
    for (const [key, value] of Object.entries(this.state.toJSON())) {
      const isOwn = isTempKey(key) && !(Object.hasOwn(this.#temp, key) && isDeepStrictEqual(this.#temp[key], value));
      if (isOwn) shared.set(key, plainCopyOf(value));
    }
  }
}

interface ToolResponse {
  readonly part: Part;
  readonly changes: StateChanges;
  readonly actions: EventActionsInput;
}

/** As in ADK, the response is by the agent that made the call. */
function responseEvent(
  responses: readonly ToolResponse[],
  { agentName, branch }: Partial<ToolInvocation> = {},
): EventInput {
  const changes = foldChanges(responses.map((response) => response.changes));
  return {
    ...(agentName !== undefined && { author: agentName }),
    ...(branch !== undefined && { branch }),
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
    const both = isRecord(before) && isRecord(value) && [...Object.entries(before), ...Object.entries(value)];
    joined.set(name, both ? Object.fromEntries(both) : value);
  }
  return Object.fromEntries(joined);
}
