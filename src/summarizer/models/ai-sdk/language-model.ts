/** What a model of the AI SDK is asked. */
export interface AiSdkCallOptions {
  prompt: { role: 'user'; content: { type: 'text'; text: string }[] }[];
  maxOutputTokens?: number;
  temperature?: number;
  abortSignal?: AbortSignal;
}

/** A number, and from version 3 on an object with the total. */
type Tokens = number | { readonly total?: number | undefined } | undefined;

/** What it answers; a reason to stop is a word, and from version 3 on an object. */
export interface AiSdkResult {
  readonly content: readonly { readonly type: string }[];
  readonly finishReason: string | { readonly unified: string; readonly raw?: string | undefined };
  readonly usage: { readonly inputTokens?: Tokens; readonly outputTokens?: Tokens };
}

/**
 * A language model of the AI SDK, in the versions 2, 3 and 4 of its interface (AI SDK 5, 6 and 7). Only what is used of it
 * is described, so that no package is needed.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: AiSdkCallOptions): PromiseLike<AiSdkResult>;
}
