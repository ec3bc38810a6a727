import type { Content, FunctionCall } from '../../sessions/domain/event/content.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import type { EventInput, LoggedEvent } from '../../sessions/domain/event/event.js';
import { isBranchSummary } from '../../sessions/domain/event/event-inspection.js';
import {
  type NamedCall,
  type NumberedCall,
  type Speaker,
  formatSpeakerName,
} from '../../sessions/domain/event/open-calls.js';
import type { Session } from '../../sessions/domain/session/session.js';
import { isReservedAuthor } from '../../sessions/domain/values/reserved-words.js';
import type { State } from '../../state/state.js';
import { type ApprovalRequest, type ApprovalResult, isApprovalEvent } from './approval-requests.js';
import { AgentRequest, type AgentRequestOptions } from './agent-request.js';
import type { MessageFormat } from '../messages/to-messages.js';
import { isControlEvent } from '../turn/control-events.js';
import { authoredEvent, eventFrom, iteratorOf } from './handler-events.js';
import type { InvocationApprovals } from './invocation-approvals.js';
import type { InvocationMessages } from './invocation-messages.js';
import type { InvocationEnd } from './invocation-end.js';
import { ToolContext } from './tool-context.js';
import { type DoneTools, ToolRun } from './tool-run.js';
import type { TurnLog } from '../turn/turn-log.js';
import type { ToolOptions, Tools } from './tool.js';

/**
 * Answers a message: yields events, which are stored in order. An event that is returned instead is stored together with
 * the end of the turn. Events with `partial: true` are passed on and not stored.
 */
export type RunHandler = (
  context: AgentContext,
) => AsyncIterable<EventInput> | AsyncGenerator<EventInput, EventInput | void, void>;

/** The running invocation, as its context sees it. */
export interface InvocationView {
  readonly session: Session;
  readonly log: Pick<TurnLog, 'env' | 'report' | 'newParts'>;
  readonly invocationId: string;
  readonly agentName: string;
  readonly isResumed: boolean;
  readonly signal: AbortSignal;
  readonly messages: InvocationMessages;
  readonly approvals: InvocationApprovals;
  /** Knows the calls of all agents. */
  readonly end: InvocationEnd;
  /** What tools have done is stored even if the invocation ends before the handler yields it. */
  readonly done: DoneTools;
}

/**
 * What a handler works with.
 *
 * @example
 * async function* answer(context: AgentContext): AsyncGenerator<EventInput> {
 *   context.state.lastTopic = topicOf(context.message);
 *   const text = await model.ask(context.history, { signal: context.signal });
 *   yield { content: { role: 'model', parts: [{ text }] } };
 * }
 */
export class AgentContext {
  /** The agent that speaks, if it is not the one of the run. */
  readonly #speaker: Speaker | undefined;

  constructor(
    private readonly invocation: InvocationView,
    speaker?: Speaker,
  ) {
    this.#speaker = speaker;
  }

  /** The session, including the message. Events that are yielded are added to it. */
  get session(): Session {
    return this.invocation.session;
  }

  /**
   * The state of the invocation, for all agents of it. Changes are stored with the next event that is yielded. Keys with
   * `temp:` last for the invocation and are never stored.
   */
  get state(): State {
    return this.invocation.session.state;
  }

  get invocationId(): string {
    return this.invocation.invocationId;
  }

  /** The agent: the author of its events. */
  get agentName(): string {
    return this.#speaker?.author ?? this.invocation.agentName;
  }

  /** The branch of the agent, if it has one. */
  get branch(): string | undefined {
    return this.#speaker?.branch;
  }

  /** The message to answer: the last one, if several came together. */
  get message(): Content {
    return this.messages.at(-1) ?? {};
  }

  /** All messages that began the invocation, and those that joined it. */
  get messages(): readonly Content[] {
    return this.invocation.messages.contents;
  }

  /**
   * The conversation: the view of the session, without approvals and without events that only control turns. Summaries of branches are
   * among them, for `toMessages`: they have no content.
   */
  get history(): readonly LoggedEvent[] {
    return this.session.events.filter(
      (event) => isBranchSummary(event) || (!isControlEvent(event) && !isApprovalEvent(event)),
    );
  }

  /**
   * A question to a model: what it is given of the conversation, as events and in the format of a vendor, and the answer that says so. Then
   * `sessions.getModelRequest` knows what the model saw.
   *
   * @example
   * const request = context.request({ instructions, tools, format: 'openai', tokenBudget: 50_000 });
   * const text = await ask({ system: instructions, messages: request.messages, tools, signal: context.signal });
   * yield request.answered({ content: { role: 'model', parts: [{ text }] } });
   */
  request<F extends MessageFormat>(options: AgentRequestOptions<F> = {}): AgentRequest<F> {
    return new AgentRequest(this.history, options, this.invocation.log.env.clock);
  }

  /** Whether the invocation began before: a process died in it and the request was repeated, or an approval was answered. */
  get isResumed(): boolean {
    return this.invocation.isResumed;
  }

  /** Aborts when the run is stopped or interrupted, and when its turn is lost. Pass it to models and tools. */
  get signal(): AbortSignal {
    return this.invocation.signal;
  }

  /** The tool calls that this agent made in the invocation, and that have no response yet. */
  get openCalls(): readonly NamedCall[] {
    return this.#openCalls.map(({ call }) => call);
  }

  /**
   * Takes the messages that came with the policy `merge` since the last call. They are stored as messages of the user. Call it
   * between steps, when each tool call has its response. What is not taken runs afterwards.
   *
   * @example for (const message of await context.takeMessages()) prompt.add(message);
   */
  async takeMessages(): Promise<readonly Content[]> {
    return this.invocation.messages.take();
  }

  /**
   * The context of a tool call.
   *
   * @example
   * for (const call of getFunctionCalls(event)) {
   *   const tool = context.tool(call);
   *   yield tool.respond(await refund(call.args, tool));
   * }
   */
  tool(call: FunctionCall): ToolContext {
    const found = this.invocation.end.find(call);
    const isOwn = !found || formatSpeakerName(found) === this.#name;
    return new ToolContext(isOwn ? this : this.as(found.author, found.branch), found?.call ?? call);
  }

  /**
   * Runs the tools of the agent's open calls side by side. Returns one event with all responses, for `yield`. What tools have done
   * is stored all the same if another one waits for an approval, or if the run ends before.
   *
   * @param options what happens when a tool fails that does not say so itself: by default, the model is told
   * @example
   * while (context.openCalls.length > 0) {
   *   yield await context.callTools({ weather: async ({ city }) => forecast(city) }, { timeoutMs: 10_000 });
   *   yield await model.ask(context.history);
   * }
   */
  async callTools<Args>(tools: Tools<Args>, options: ToolOptions = {}): Promise<EventInput> {
    const run = new ToolRun(this, this.#openCalls, tools, options, this.invocation.log);
    this.invocation.done.add(run);
    return run.result();
  }

  /**
   * The context of another agent of the run. It answers the calls of this agent alone, with its name and branch.
   *
   * @param branch default: the same as here. Give agents that work side by side branches of their own
   * @example
   * const writer = context.as('writer', 'root.writer');
   * yield writer.authored(draft);
   * yield await writer.callTools(tools);
   */
  as(agentName: string, branch: string | undefined = this.branch): AgentContext {
    if (isReservedAuthor(agentName)) {
      throw new InvalidInputError('must not be the name of the user or of the system', 'agentName');
    }
    return new AgentContext(this.invocation, { author: agentName, branch });
  }

  /**
   * The event with the name and the branch of this agent, unless it has its own.
   *
   * @example yield context.as('writer', 'root.writer').authored(draft);
   */
  authored(event: EventInput): EventInput {
    const branch = eventFrom('authored', 'event', event).branch ?? this.branch;
    return authoredEvent(event, this.agentName, branch === undefined ? {} : { branch });
  }

  /**
   * Lets another agent work: its events get its name and branch.
   *
   * @example yield* context.runAs('writer', writer); // async function* writer(context: AgentContext) { … }
   */
  async *runAs(agentName: string, handler: RunHandler, branch?: string): AsyncGenerator<EventInput, void, void> {
    const context = this.as(agentName, branch);
    const events = iteratorOf(() => handler(context));
    try {
      for (;;) {
        const { done, value } = await events.next();
        if (value !== undefined || done !== true)
          yield context.authored(eventFrom('handler', done === true ? 'return' : 'yield', value));
        if (done === true) return;
      }
    } finally {
      await events.return?.();
    }
  }

  /**
   * Asks the user. Returns the answer if there is one; otherwise the turn ends here, and the handler is called again when the
   * approval is answered, maybe hours later and in another process.
   *
   * @param number of the request among those of the call; the next one by default
   * @example const { confirmed } = await context.requestApproval({ id: 'order', hint: 'Order 3 chairs?' });
   */
  async requestApproval<Payload = unknown>(
    request: ApprovalRequest<Payload>,
    call?: FunctionCall,
    number?: number,
  ): Promise<ApprovalResult<Payload>> {
    const found = call && this.invocation.end.find(call);
    return this.invocation.approvals.request(request, { speaker: this.#speaker, call, found, number });
  }

  get #openCalls(): readonly NumberedCall[] {
    return this.invocation.end.openCalls.filter((call) => formatSpeakerName(call) === this.#name);
  }

  get #name(): string {
    return formatSpeakerName({ author: this.agentName, branch: this.branch });
  }
}
