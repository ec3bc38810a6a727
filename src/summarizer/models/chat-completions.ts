import { answerOf, type protocolWord, statusError, tokenCount } from './provider-response.js';
import { type SummaryAnswer, SummaryModelError } from './summary-model.js';

type Fields = Readonly<Record<string, unknown>>;

/** Some servers send no finish reason. */
const FINISHED = new Set<unknown>(['stop', 'eos', 'end_turn', 'stop_sequence', null, undefined]);
const TEXT_TYPES = new Set<unknown>(['text', 'output_text']);

/** Returns the words of a server that may appear in messages. */
type WordOf = typeof protocolWord;

/** Reads a successful response of `chat/completions`. */
export function parseChatCompletion(body: string, wordOf: WordOf): SummaryAnswer {
  const answer = asFields(parseJson(body));
  // Routers send status 200 before they know that the provider fails.
  if (answer.error) throw statusError(statusIn(answer.error), errorCodeIn(answer, wordOf));
  const choice = asFields(Array.isArray(answer.choices) ? answer.choices[0] : undefined);
  const message = asFields(choice.message);
  if (choice.message === undefined) throw new SummaryModelError('BAD_ANSWER', 'The answer holds no message.');
  const usage = asFields(answer.usage);
  return answerOf({
    text: textOf(message.content),
    stoppedBy: message.refusal ? 'the model refused' : stopReasonOf(choice.finish_reason, wordOf),
    inputTokens: tokenCount(usage.prompt_tokens),
    outputTokens: tokenCount(usage.completion_tokens),
  });
}

/** The error code of a provider. Its message is not used: it may repeat the key or the conversation. */
export function errorCodeIn(body: unknown, wordOf: WordOf): string | undefined {
  const error = asFields(asFields(body).error);
  return wordOf(error.code) ?? wordOf(error.type);
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new SummaryModelError('BAD_ANSWER', 'The answer is not JSON, or was cut off.');
  }
}

function statusIn(error: unknown): number {
  const { code } = asFields(error);
  return typeof code === 'number' && code >= 400 && code < 600 ? code : 500;
}

function stopReasonOf(finishReason: unknown, wordOf: WordOf): string | undefined {
  return FINISHED.has(finishReason) ? undefined : (wordOf(finishReason) ?? 'an unknown reason');
}

/** The content is a string, or parts of which some are text and others reasoning. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts
    .map(asFields)
    .filter(({ type }) => type === undefined || TEXT_TYPES.has(type))
    .map(({ text }) => text)
    .filter((text) => typeof text === 'string')
    .join('');
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

const MAX_BYTES = 1_048_576;

/** Reads the body of a response as text. Stops at 1 MiB: a longer response is not a summary. */
export async function readBody(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_BYTES) {
      await reader.cancel();
      throw new SummaryModelError('BAD_ANSWER', `The answer has more than ${MAX_BYTES} bytes.`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
