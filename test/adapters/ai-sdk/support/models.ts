import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { simulateReadableStream } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';

type Part = LanguageModelV3StreamPart;

const USAGE = {
  inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: undefined },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
};

/** The chunks of one step of a model. */
export function step(...parts: readonly Part[]): Part[] {
  const called = parts.some(({ type }) => type === 'tool-call');
  const finishReason = { unified: called ? 'tool-calls' : 'stop', raw: undefined } as const;
  return [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', usage: USAGE, finishReason }];
}

/** A text, in these pieces. */
export function text(...pieces: readonly string[]): Part[] {
  const deltas = pieces.map((delta) => ({ type: 'text-delta', id: 't', delta }) as const);
  return [{ type: 'text-start', id: 't' }, ...deltas, { type: 'text-end', id: 't' }];
}

export function thought(delta: string, signature?: string): Part[] {
  const providerMetadata = signature === undefined ? {} : { providerMetadata: { anthropic: { signature } } };
  return [
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta },
    { type: 'reasoning-end', id: 'r', ...providerMetadata },
  ];
}

export function call(toolCallId: string, toolName: string, input: object): Part {
  return { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) };
}

/** A model that answers with one step after the other, and notes its prompts. */
export function model(...steps: readonly (readonly Part[])[]): MockLanguageModelV3 {
  let calls = 0;
  return new MockLanguageModelV3({
    modelId: 'scripted',
    doStream: async () => ({ stream: simulateReadableStream({ chunks: [...(steps[calls++] ?? step(...text('?')))] }) }),
  });
}

/** A model that says what a test says, when the test says it. */
export class SpokenModel {
  readonly model: MockLanguageModelV3;
  readonly started: Promise<void>;
  #controller: ReadableStreamDefaultController<Part> | undefined;
  #begin: (() => void) | undefined;
  isAborted = false;

  constructor() {
    this.started = new Promise((resolve) => (this.#begin = resolve));
    this.model = new MockLanguageModelV3({
      doStream: async ({ abortSignal }: LanguageModelV3CallOptions) => {
        abortSignal?.addEventListener('abort', () => (this.isAborted = true));
        const stream = new ReadableStream<Part>({ start: (controller) => void (this.#controller = controller) });
        this.#controller?.enqueue({ type: 'stream-start', warnings: [] });
        this.#controller?.enqueue({ type: 'text-start', id: 't' });
        this.#begin?.();
        return { stream };
      },
    });
  }

  say(delta: string): void {
    this.#controller?.enqueue({ type: 'text-delta', id: 't', delta });
  }

  end(): void {
    this.#controller?.enqueue({ type: 'text-end', id: 't' });
    for (const part of step().slice(1)) this.#controller?.enqueue(part);
    this.#controller?.close();
  }
}

/** What the model was asked, message by message. */
export function prompts({ doStreamCalls }: MockLanguageModelV3): string[][] {
  return doStreamCalls.map(({ prompt }) =>
    prompt.map(
      ({ role, content }) => `${role}: ${typeof content === 'string' ? content : content.map(inShort).join(' ')}`,
    ),
  );
}

function inShort(part: { readonly type: string }): string {
  if ('text' in part) return String(part.text);
  if ('toolName' in part && part.type === 'tool-call') return `call ${String(part.toolName)}`;
  if ('output' in part) return `result ${JSON.stringify((part.output as { value?: unknown }).value)}`;
  return part.type;
}
