import { type LanguageModelMiddleware, type LanguageModelUsage, wrapLanguageModel } from 'ai';
import type { StepUsage } from './usage.js';

/** A model of a provider, as `wrapLanguageModel` of the SDK takes it. */
export type WrappableModel = Parameters<typeof wrapLanguageModel>[0]['model'];
/** A model as `streamText` takes it. */
export type WrappedModel = ReturnType<typeof wrapLanguageModel>;

type WrapStream = NonNullable<LanguageModelMiddleware['wrapStream']>;
type CallOptions = Parameters<WrapStream>[0]['params'];
type StreamPart = Awaited<ReturnType<WrapStream>> extends { stream: ReadableStream<infer Part> } ? Part : never;

/** What a provider is given: the instructions first. */
export type Prompt = CallOptions['prompt'];

/** What a model was asked, and how its answer ended. */
export interface Question extends Pick<CallOptions, 'prompt' | 'tools'> {
  readonly model: WrappableModel;
  readonly startedAt: number;
  endedAt?: number;
  /** What the provider counted, as soon as it says so. */
  used?: StepUsage;
}

/** The model, which says what it is asked as soon as it answers: a call that is repeated, since it failed, is no question. */
export function notedModel(model: WrappableModel, note: (question: Question) => void): WrappedModel {
  const wrapStream: WrapStream = async ({ doStream, params: { prompt, tools } }) => {
    const question: Question = { prompt, tools, model, startedAt: performance.now() };
    const { stream, ...rest } = await doStream();
    note(question);
    return { ...rest, stream: stream.pipeThrough(endNoted(question)) };
  };
  return wrapLanguageModel({ model, middleware: { specificationVersion: 'v3', wrapStream } });
}

function endNoted(question: Question): TransformStream<StreamPart, StreamPart> {
  let { modelId } = question.model;
  return new TransformStream({
    transform(part, controller) {
      if (part.type === 'response-metadata') modelId = part.modelId ?? modelId;
      if (part.type === 'finish') {
        question.endedAt = performance.now();
        question.used = { usage: usageIn(part), modelId };
      }
      controller.enqueue(part);
    },
  });
}

/** By the names of `ai`. */
function usageIn({ usage: { inputTokens, outputTokens } }: StreamPart & { type: 'finish' }): LanguageModelUsage {
  const [input, output] = [inputTokens.total, outputTokens.total];
  return {
    inputTokens: input,
    inputTokenDetails: {
      noCacheTokens: inputTokens.noCache,
      cacheReadTokens: inputTokens.cacheRead,
      cacheWriteTokens: inputTokens.cacheWrite,
    },
    outputTokens: output,
    outputTokenDetails: { textTokens: outputTokens.text, reasoningTokens: outputTokens.reasoning },
    totalTokens: input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0),
  };
}
