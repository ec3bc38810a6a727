import { isCount } from '../../sessions/domain/input-checks.js';
import { type SummaryAnswer, SummaryModelError, type SummaryModelErrorCode } from './summary-model.js';

/** The content of a successful response, in the same form for each provider. */
export interface RawAnswer {
  readonly text: string;
  /** Why the model stopped early; `undefined` if it finished. */
  readonly stoppedBy: string | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** Reasoning at the beginning of an answer. Some servers leave out the opening tag. */
const REASONING = /^\s*<think>[\s\S]*?(?:<\/think>|$)|^(?:(?!<think>)[\s\S])*?<\/think>/;

/** Removes reasoning from the text. An empty text counts as unfinished. */
export function answerOf({ text, stoppedBy, inputTokens, outputTokens }: RawAnswer): SummaryAnswer {
  const answer = text.replace(REASONING, '').trim();
  const unfinished = stoppedBy ?? (answer === '' ? 'the answer is empty' : undefined);
  return { text: answer, unfinished, inputTokens, outputTokens };
}

/** No digits: a word with digits may be a key. */
const PROTOCOL_WORD = /^[a-z]+(?:[_\-/.+][a-z]+)*$/i;

/** Only a value that looks like a word of a protocol may appear in messages and logs. */
export function protocolWord(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= 64 && PROTOCOL_WORD.test(value) ? value : undefined;
}

/** Like `protocolWord`, without words that contain a secret: servers may repeat the request. */
export function protocolWordsWithout(secrets: readonly string[]): typeof protocolWord {
  const hidden = secrets.flatMap((secret) => secret.toLowerCase().split(/\s+/)).filter((secret) => secret !== '');
  return (value) => {
    const word = protocolWord(value);
    return hidden.some((secret) => word?.toLowerCase().includes(secret)) ? undefined : word;
  };
}

export function tokenCount(value: unknown): number | undefined {
  return isCount(value) ? value : undefined;
}

/** The error for an HTTP status other than success. */
export function statusError(status: number, reason?: string, retryAfterMs?: number): SummaryModelError {
  const why = reason === undefined ? '' : ` (${reason})`;
  const message = `The provider answered with status ${status}${why}.${adviceFor(status)}`;
  return new SummaryModelError(codeOf(status), message, { retryable: isRetryable(status), status, retryAfterMs });
}

function isRetryable(status: number): boolean {
  return [408, 409, 429].includes(status) || status >= 500;
}

function codeOf(status: number): SummaryModelErrorCode {
  if (status === 429) return 'RATE_LIMITED';
  return isRetryable(status) ? 'PROVIDER_FAILED' : 'REJECTED';
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return ' Check the key and what it may do.';
  if (status === 404) return ' Check the base URL and the name of the model.';
  if (status >= 300 && status < 400) return ' Redirects are not followed: give the address that they lead to.';
  return '';
}

/** Parses a `Retry-After` header, in seconds or as a date; `undefined` if it is invalid. */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d{1,9}(\.\d{1,9})?$/.test(value)) return Math.round(Number(value) * 1_000);
  // HTTP dates contain letters; `Date.parse` would read a bare number as a year.
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
