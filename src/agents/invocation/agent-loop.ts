import { checkOptionNames } from '../../config/option-checks.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { isFinalResponse } from '../../sessions/domain/event/event-inspection.js';
import type { EventInput } from '../../sessions/domain/event/event.js';
import { assertWholeNumber } from '../../sessions/domain/values/input-checks.js';
import type { AgentContext } from './agent-context.js';
import { eventFrom } from './handler-events.js';
import { type ToolOptions, type Tools, checkedToolOptions } from './tool.js';

/** What a model says: an event, or several, such as partial ones and then the whole. */
export type ModelAnswer = EventInput | Promise<EventInput> | AsyncIterable<EventInput>;

/** The model and the tools of an agent. The other options count for tools that do not say so themselves. */
export interface AgentLoopOptions<Args> extends ToolOptions {
  /** Asks the model, such as with `toMessages(context.session, …)` and `context.signal`. */
  readonly model: (context: AgentContext) => ModelAnswer;
  readonly tools?: Tools<Args> | undefined;
  /** The most questions to the model in a run. Then the run fails. Default: 100. */
  readonly maxSteps?: number | undefined;
}

/** The handler that {@link agentLoop} makes. */
export type AgentLoop = (context: AgentContext) => AsyncGenerator<EventInput, void, void>;

const MAX_STEPS = 100;

const OPTION_NAMES: Readonly<Record<keyof AgentLoopOptions<unknown>, true>> = {
  model: true,
  tools: true,
  maxSteps: true,
  retries: true,
  timeoutMs: true,
  onError: true,
};

/**
 * A handler that asks a model, runs the tools that it calls, and asks again, until it calls none. After an approval, the tool runs first.
 * Messages that came with `merge` are taken before each question.
 *
 * @example
 * const support = agentLoop({
 *   model: (context) => ask(toMessages(context.session, { format: 'openai' }), context.signal),
 *   tools: { weather: async ({ city }, tool) => forecast(city, tool.signal) },
 * });
 * await agents.run({ appName: 'shop', userId: 'ann', newMessage: 'Will it rain?' }, support).result;
 */
export function agentLoop<Args>(options: AgentLoopOptions<Args>): AgentLoop {
  checkOptionNames(options, OPTION_NAMES);
  const { model, tools, maxSteps = MAX_STEPS, ...toolOptions } = options;
  if (typeof model !== 'function') throw new InvalidInputError('must be a function', 'model');
  assertWholeNumber(maxSteps, { path: 'maxSteps', from: 1, to: Number.MAX_SAFE_INTEGER });
  checkedToolOptions(toolOptions);
  return async function* loop(context) {
    for (let step = 1; ; step++) {
      if (context.openCalls.length > 0) {
        const responses = await context.callTools(tools ?? ({} as Tools<Args>), toolOptions);
        yield responses;
        // A tool may say that nothing is to follow.
        if (isFinalResponse(responses)) return;
      }
      if (step > maxSteps) throw new Error(`The model called tools ${maxSteps} times, which is the most (maxSteps).`);
      await context.takeMessages();
      for await (const event of readAnswerEvents(model(context))) yield context.authored(event);
      if (context.openCalls.length === 0) return;
    }
  };
}

async function* readAnswerEvents(answer: ModelAnswer): AsyncGenerator<EventInput, void, void> {
  if (isIterable(answer)) for await (const event of answer) yield eventFrom('model', 'yield', event);
  else yield eventFrom('model', 'return', await answer);
}

function isIterable(answer: ModelAnswer): answer is AsyncIterable<EventInput> {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}
