import { callable, kindOf } from '../../config/setting.js';
import { isFinalResponse } from '../../sessions/domain/event/event-inspection.js';
import { type EventInput, type EventLike, keepFilledInTimestamp } from '../../sessions/domain/event/event.js';
import { checkSetting } from '../../sessions/domain/values/input-checks.js';
import { stateKeyProblem } from '../../sessions/domain/write/submitted-state.js';
import type { TurnLog } from '../turn/turn-log.js';
import { type StandardSchema, isStandardSchema, validateWith } from '../../state/standard-schema.js';

/** Which output of which agent is saved under which state key. */
export interface OutputRule {
  /** The agent whose final response is saved. */
  readonly author: string;
  /** A state key of any scope: `answer`, `user:answer`, `temp:answer`. */
  readonly outputKey: string;
  /** The output is JSON of this schema: the parsed value is saved instead of the text. */
  readonly outputSchema?: StandardSchema;
  /** Learns why the output is not what the schema asks for. It is saved nevertheless, unless this throws. */
  readonly onMismatch?: (problem: string) => void;
}

/** What agents, requests and rules may say of an output. */
export const OUTPUT_SETTINGS = {
  outputKey: {
    kind: kindOf('a state key, such as answer or user:answer', (value) => stateKeyProblem(value) === undefined),
  },
  outputSchema: { kind: kindOf('a schema of a library with Standard Schema, such as zod', isStandardSchema) },
  onMismatch: { kind: callable },
} as const;

/**
 * The event with its output in `actions.stateDelta`, or the event itself if there is nothing to save. The output is the
 * text of the final response of `author`, without thoughts. An event without text saves nothing.
 *
 * @example
 * withOutput({ author: 'writer', content: { parts: [{ text: 'Done.' }] } }, { author: 'writer', outputKey: 'draft' });
 * // { author: 'writer', content: …, actions: { stateDelta: { draft: 'Done.' } } }
 */
export function withOutput<E extends EventInput>(event: E, rule: OutputRule): E {
  assertRule(rule);
  const output = findEventOutput(event, rule);
  if (output === undefined) return event;
  const { stateDelta, stateRemovals, ...actions } = event.actions ?? {};
  const saved = {
    ...event,
    actions: {
      ...actions,
      stateDelta: Object.fromEntries([...Object.entries(stateDelta ?? {}), [rule.outputKey, output.value]]),
      ...(stateRemovals && { stateRemovals: stateRemovals.filter((key) => key !== rule.outputKey) }),
    },
  };
  keepFilledInTimestamp(event, saved);
  return saved;
}

function assertRule({ outputKey, outputSchema, onMismatch }: OutputRule): void {
  checkSetting(OUTPUT_SETTINGS.outputKey, outputKey, 'outputKey');
  if (outputSchema !== undefined) checkSetting(OUTPUT_SETTINGS.outputSchema, outputSchema, 'outputSchema');
  if (onMismatch !== undefined) checkSetting(OUTPUT_SETTINGS.onMismatch, onMismatch, 'onMismatch');
}

function findEventOutput(event: EventInput, rule: OutputRule): { readonly value: unknown } | undefined {
  if (event.author !== rule.author || event.partial === true || !isFinalResponse(event)) return undefined;
  const text = outputText(event);
  if (text === '') return undefined;
  if (!rule.outputSchema) return { value: text };
  return text.trim() === '' ? undefined : { value: parsedOutput(text, rule, rule.outputSchema) };
}

function outputText({ content }: EventLike): string {
  const texts = (content?.parts ?? []).filter(({ text, thought }) => typeof text === 'string' && thought !== true);
  return texts.map(({ text }) => text).join('');
}

/** An output that is no JSON is saved as text, and one that breaks the schema as it was parsed, as in ADK. */
function parsedOutput(text: string, { outputKey, onMismatch }: OutputRule, schema: StandardSchema): unknown {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    onMismatch?.(`The output for ${JSON.stringify(outputKey)} is no JSON. Its text was saved.`);
    return text;
  }
  const result = validateWith(schema, parsed);
  if (!result.issues) return result.value;
  const problems = result.issues.map(({ message }) => message).join('; ');
  onMismatch?.(`The output for ${JSON.stringify(outputKey)} does not fit its schema: ${problems}`);
  return parsed;
}

/** The rule of a run: whoever is not told reads it in the server's log. */
export function reportedOutput(rule: OutputRule, log: Pick<TurnLog, 'report'>): OutputRule {
  return { onMismatch: (problem) => log.report(new OutputMismatchWarning(rule.author, problem)), ...rule };
}

class OutputMismatchWarning extends Error {
  constructor(author: string, problem: string) {
    super(`${problem} The agent is ${JSON.stringify(author)}. Let the run fail, or correct it, in onMismatch.`);
    this.name = 'OutputMismatchWarning';
  }
}
