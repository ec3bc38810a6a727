import { answerOf, type protocolWord, tokenCount } from '../calls/model-answer.js';
import { statusError } from '../calls/status-error.js';
import type { SummaryAnswer } from '../summary-model.js';
import { SummaryModelError } from '../summary-model-error.js';

type Fields = Readonly<Record<string, unknown>>;

/** Done; some servers do not tell. */
const FINISHED = new Set<unknown>(['stop', 'eos', 'end_turn', 'stop_sequence', null, undefined]);
const TEXT_TYPES = new Set<unknown>(['text', 'output_text']);

/** Which words of a server may be repeated. */
type WordOf = typeof protocolWord;

/** Reads what `chat/completions` answered with success. */
export function readChatAnswer(body: string, wordOf: WordOf): SummaryAnswer {
  const answer = fieldsOf(parsed(body));
  // Routers answer with success before they know that the provider fails.
  if (answer.error) throw statusError(statusIn(answer.error), reasonIn(answer, wordOf));
  const choice = fieldsOf(Array.isArray(answer.choices) ? answer.choices[0] : undefined);
  const message = fieldsOf(choice.message);
  if (choice.message === undefined) throw new SummaryModelError('BAD_ANSWER', 'The answer holds no message.');
  const usage = fieldsOf(answer.usage);
  return answerOf({
    text: textOf(message.content),
    stoppedBy: message.refusal ? 'the model refused' : stopOf(choice.finish_reason, wordOf),
    inputTokens: tokenCount(usage.prompt_tokens),
    outputTokens: tokenCount(usage.completion_tokens),
  });
}

/** The code that a provider gives for an error. Its message is left alone: it may repeat the key or the conversation. */
export function reasonIn(body: unknown, wordOf: WordOf): string | undefined {
  const error = fieldsOf(fieldsOf(body).error);
  return wordOf(error.code) ?? wordOf(error.type);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new SummaryModelError('BAD_ANSWER', 'The answer is not JSON, or was cut off.');
  }
}

function statusIn(error: unknown): number {
  const { code } = fieldsOf(error);
  return typeof code === 'number' && code >= 400 && code < 600 ? code : 500;
}

function stopOf(finishReason: unknown, wordOf: WordOf): string | undefined {
  return FINISHED.has(finishReason) ? undefined : (wordOf(finishReason) ?? 'an unknown reason');
}

/** A text, or parts of which some are text; others are what the model said to itself. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts
    .map(fieldsOf)
    .filter(({ type }) => type === undefined || TEXT_TYPES.has(type))
    .map(({ text }) => text)
    .filter((text) => typeof text === 'string')
    .join('');
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
