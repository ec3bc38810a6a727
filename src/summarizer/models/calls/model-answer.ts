import { isCount } from '../../../sessions/domain/optional-count.js';
import type { SummaryAnswer } from '../summary-model.js';

/** What a provider gave, whichever way it says so. */
export interface RawAnswer {
  readonly text: string;
  /** Why the model stopped; `undefined` where it was done. */
  readonly stoppedBy: string | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** What some models say to themselves first; some servers keep back where it begins. */
const THOUGHTS = /^\s*<think>[\s\S]*?(?:<\/think>|$)|^(?:(?!<think>)[\s\S])*?<\/think>/;

/** An empty answer is none, and thoughts are no part of it. */
export function answerOf({ text, stoppedBy, inputTokens, outputTokens }: RawAnswer): SummaryAnswer {
  const said = text.replace(THOUGHTS, '').trim();
  const unfinished = stoppedBy ?? (said === '' ? 'the answer is empty' : undefined);
  return { text: said, unfinished, inputTokens, outputTokens };
}

/** No digits: a word that has some may be a key. */
const PROTOCOL_WORD = /^[a-z]+(?:[_\-/.+][a-z]+)*$/i;

/** Providers choose their words freely: only what looks like a word of a protocol goes into messages and logs. */
export function protocolWord(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= 64 && PROTOCOL_WORD.test(value) ? value : undefined;
}

/** The same, but for words that hold a secret: servers may repeat what they were sent. */
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
