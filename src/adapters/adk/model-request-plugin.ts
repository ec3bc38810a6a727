import {
  BasePlugin,
  CONTENT_REQUEST_PROCESSOR,
  type Context,
  type Event as AdkEvent,
  getFunctionResponses,
  type InvocationContext,
  type LlmRequest,
  type LlmResponse,
} from '@google/adk';
import type { ModelRequest } from '../../index.js';
import { givenEvents, type Told } from '../shared/given-events.js';
import type { AdkSessionService } from './adk-session-service.js';

/** What a model is being asked, and which events there were. */
interface Question {
  readonly request: LlmRequest;
  readonly told: readonly Told[];
  readonly startedAt: number;
}

/** ADK makes up ids of calls that begin so, and models do not get them. */
const MADE_UP_ID = 'adk-';

/**
 * Writes with each answer of a model what the model was given: the numbers of the events, the instructions, the tools, and how long it
 * took. `getModelRequest` shows it.
 *
 * @example
 * const sessionService = new AdkSessionService({ sessions });
 * const runner = new Runner({ appName, agent, sessionService, plugins: [new ModelRequestPlugin(sessionService)] });
 */
export class ModelRequestPlugin extends BasePlugin {
  /** By the actions of the event that will be the answer: only they are the same before and after. */
  readonly #questions = new WeakMap<object, Question>();

  /** @param service that keeps the sessions of the runner */
  constructor(private readonly service: AdkSessionService) {
    super('nestjs-agent-sessions:model-requests');
  }

  override async beforeModelCallback({
    callbackContext,
    llmRequest,
  }: {
    readonly callbackContext: Context;
    readonly llmRequest: LlmRequest;
  }): Promise<undefined> {
    const context = callbackContext.invocationContext;
    const numbers = this.service.numbersOf(context.session);
    const told: Told[] = [];
    for (const event of context.session.events) {
      const seq = numbers.get(event.id);
      if (seq === undefined) continue;
      told.push({ events: [{ seq }], messages: (await toRequestContents(event, context)).map(sentContent) });
    }
    // Callbacks that come later may change the request, which is the model's by the time of its answer.
    this.#questions.set(callbackContext.eventActions, { request: llmRequest, told, startedAt: performance.now() });
  }

  override async afterModelCallback({
    callbackContext,
    llmResponse,
  }: {
    readonly callbackContext: Context;
    readonly llmResponse: LlmResponse;
  }): Promise<undefined> {
    const question = this.#questions.get(callbackContext.eventActions);
    if (!question || llmResponse.partial || !(llmResponse.content || llmResponse.errorCode)) return;
    this.#questions.delete(callbackContext.eventActions);
    // ADK makes the event of all fields of the response. A response of its own would hide it from callbacks of agents.
    Object.assign(llmResponse, { modelRequest: toModelRequest(question) });
  }
}

/** What ADK makes of an event, if it shows it to the agent. A result without its call is an error for ADK. */
async function toRequestContents(event: AdkEvent, context: InvocationContext): Promise<LlmRequest['contents']> {
  if (!event.content) return [];
  const isOwn = event.author === 'user' || event.author === context.agent?.name;
  if (isOwn && getFunctionResponses(event).length > 0) return [event.content];
  const { agent, branch, isolationScope, session } = context;
  const alone = { agent, branch, isolationScope, session: { ...session, events: [event] } } as InvocationContext;
  const request: LlmRequest = { contents: [], toolsDict: {}, liveConnectConfig: {} };
  // It has no events of its own: one step is all.
  await CONTENT_REQUEST_PROCESSOR.runAsync(alone, request).next();
  return request.contents;
}

function toModelRequest({ request: { contents, config }, told, startedAt }: Question): ModelRequest {
  const { systemInstruction, tools } = config ?? {};
  return {
    ...givenEvents(contents.map(sentContent), told),
    ...(systemInstruction !== undefined && { instructions: instructionsIn(systemInstruction) }),
    ...(tools && { tools: asSent(tools) }),
    durationMs: Math.round(performance.now() - startedAt),
  };
}

type Instruction = NonNullable<NonNullable<LlmRequest['config']>['systemInstruction']>;

function instructionsIn(instruction: Instruction): NonNullable<ModelRequest['instructions']> {
  if (!Array.isArray(instruction)) return asSent<NonNullable<ModelRequest['instructions']>>(instruction);
  return asSent({ parts: instruction.map((part) => (typeof part === 'string' ? { text: part } : part)) });
}

/** Without the functions of tools. */
function asSent<Sent>(value: unknown): Sent {
  return JSON.parse(JSON.stringify(value)) as Sent;
}

/** A content as models get it. */
function sentContent(content: NonNullable<AdkEvent['content']>): unknown {
  return { ...content, parts: content.parts?.map(withoutMadeUpId) };
}

function withoutMadeUpId(part: NonNullable<NonNullable<AdkEvent['content']>['parts']>[number]): object {
  const { functionCall: call, functionResponse: response } = part;
  return {
    ...part,
    ...(call?.id?.startsWith(MADE_UP_ID) && { functionCall: { ...call, id: undefined } }),
    ...(response?.id?.startsWith(MADE_UP_ID) && { functionResponse: { ...response, id: undefined } }),
  };
}
