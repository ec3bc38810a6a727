import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import { isPlainObject } from '../../adapter.js';
import type { EventInput } from '../../index.js';
import { toCountOrZero } from '../shared/given-json.js';

/** The tokens of a message that were counted: input, cached input, output. */
interface Counted {
  readonly message: string;
  readonly tokens: readonly number[];
}

/** Models do not exist by this name: the program answered itself. */
const SYNTHETIC = '<synthetic>';

/**
 * Counts the tokens of answers. Claude writes an entry for each block of a message, all with the usage of the whole message, so an
 * entry adds what the entries before it have not said.
 */
export class UsageCounter {
  #last: Counted | undefined;

  constructor(counter?: UsageCounter) {
    if (counter) this.#last = counter.#last;
  }

  usageOf({ type, message }: SessionStoreEntry): Pick<EventInput, 'usageMetadata' | 'modelVersion'> {
    if (type !== 'assistant' || !isPlainObject(message)) return {};
    const { id, model, usage } = message;
    const named =
      typeof model === 'string' && model !== '' && model !== SYNTHETIC ? { modelVersion: model.toWellFormed() } : {};
    if (typeof id !== 'string' || !isPlainObject(usage) || model === SYNTHETIC) return named;
    const cached = toCountOrZero(usage.cache_read_input_tokens);
    const input = toCountOrZero(usage.input_tokens) + toCountOrZero(usage.cache_creation_input_tokens) + cached;
    const tokens = [input, cached, toCountOrZero(usage.output_tokens)];
    const before = this.#last?.message === id ? this.#last.tokens : [];
    const added = tokens.map((count, index) => Math.max(0, count - (before[index] ?? 0)));
    this.#last = { message: id, tokens: tokens.map((count, index) => Math.max(count, before[index] ?? 0)) };
    const [prompt = 0, fromCache = 0, output = 0] = added;
    if (prompt === 0 && output === 0) return named;
    return {
      ...named,
      usageMetadata: {
        promptTokenCount: prompt,
        ...(fromCache > 0 && { cachedContentTokenCount: fromCache }),
        candidatesTokenCount: output,
        totalTokenCount: prompt + output,
      },
    };
  }
}
