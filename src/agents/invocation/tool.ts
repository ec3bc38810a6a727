import { LONGEST_TIMER_MS } from '../../config/setting.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { type StandardSchema, jsonSchemaOf } from '../../state/standard-schema.js';
import type { ApprovalRequest } from './approval-requests.js';
import type { ToolContext } from './tool-context.js';

/** The arguments of a call. */
export type ToolArgs = Readonly<Record<string, unknown>>;

/**
 * A tool: gets the arguments of the call, and its context. What it returns is the response.
 *
 * @example const weather: Tool<{ city: string }> = async ({ city }, tool) => forecast(city, tool.signal);
 */
export type Tool<Args = ToolArgs> = { call(args: Args, context: ToolContext): unknown }['call'];

/** How often a tool that failed is called again. */
export interface ToolRetries {
  /** The most repetitions. */
  readonly times: number;
  /** The pause before the first one. It doubles each time. Default: 200 ms. */
  readonly backoffMs?: number | undefined;
  /** Whether the error may pass. Default: each may. */
  readonly when?: ((error: unknown) => boolean) | undefined;
}

/** What happens when tools fail. */
export interface ToolOptions {
  /** Default: none. A repetition begins with the state that the first attempt had. */
  readonly retries?: ToolRetries | undefined;
  /**
   * How long an attempt may take, and before it the check of the arguments, and `approval`. Then `tool.signal` aborts, and what the tool
   * still does counts for nothing. Default: no limit.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * After the last attempt: `tell-model` responds with the message of the error, `fail` ends the run with the error, and a function
   * returns the response, or throws. Default: `tell-model`.
   */
  readonly onError?: 'tell-model' | 'fail' | ((error: unknown, tool: ToolContext) => unknown) | undefined;
}

/** A tool with all that belongs to it. */
export interface ToolDefinition<Args extends object = ToolArgs> extends ToolOptions {
  /** For the model. */
  readonly description?: string | undefined;
  /** Checks the arguments. The model reads what is wrong with them. */
  readonly input?: StandardSchema<unknown, Args> | undefined;
  /** What the user has to approve before the tool runs, if anything. A refusal is the response. */
  approval?(args: Args, context: ToolContext): ApprovalRequest | undefined | Promise<ApprovalRequest | undefined>;
  /** The tool itself. */
  run(args: Args, context: ToolContext): unknown;
}

/** The tools for {@link AgentContext.callTools}, by name: functions, and definitions. */
export type Tools<Args = Record<string, ToolArgs>> = {
  readonly [Name in keyof Args]: Tool<Args[Name] & ToolArgs> | ToolDefinition<object>;
};

/** A tool, for the request to a model. */
export interface ToolDescription {
  readonly name: string;
  readonly description?: string;
  /** The JSON Schema of its arguments. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/**
 * A tool whose arguments are checked, and have the types of the schema.
 *
 * @example
 * const refund = defineTool({
 *   description: 'Refunds an order.',
 *   input: z.object({ order: z.string() }),
 *   approval: ({ order }) => ({ hint: `Refund ${order}?` }),
 *   retries: { times: 2 },
 *   timeoutMs: 10_000,
 *   run: async ({ order }, tool) => payments.refund(order, tool.signal),
 * });
 */
export function defineTool<Args extends object = ToolArgs>(definition: ToolDefinition<Args>): ToolDefinition<Args> {
  if (typeof definition?.run !== 'function') throw new InvalidInputError('must be a function', 'tool.run');
  checkedToolOptions(definition);
  return definition;
}

/**
 * What a model has to know of tools.
 *
 * @example
 * const known = describeTools({ refund }).map((tool) => ({ type: 'function' as const, function: tool }));
 */
export function describeTools(tools: Readonly<Record<string, Tool | ToolDefinition<object>>>): ToolDescription[] {
  return Object.entries(tools).map(([name, tool]) => {
    const { description, input } = typeof tool === 'function' ? {} : tool;
    const parameters = input && jsonSchemaOf(input);
    return { name, ...(description !== undefined && { description }), ...(parameters && { parameters }) };
  });
}

/** Refuses what would never end, or at once. */
export function checkedToolOptions({ retries, timeoutMs, onError }: ToolOptions): ToolOptions {
  if (timeoutMs !== undefined) assertNumber(timeoutMs, 1, 'timeoutMs');
  if (retries) assertNumber(retries.times, 0, 'retries.times');
  if (retries?.backoffMs !== undefined) assertNumber(retries.backoffMs, 0, 'retries.backoffMs');
  if (onError !== undefined && typeof onError !== 'function' && onError !== 'tell-model' && onError !== 'fail') {
    throw new InvalidInputError('must be tell-model, fail or a function', 'tool.onError');
  }
  return { retries, timeoutMs, onError };
}

function assertNumber(value: unknown, min: number, name: string): void {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= LONGEST_TIMER_MS) return;
  throw new InvalidInputError(`must be an integer from ${min} to ${LONGEST_TIMER_MS}`, `tool.${name}`);
}
