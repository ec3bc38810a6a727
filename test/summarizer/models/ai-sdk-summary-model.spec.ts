import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { APICallError, type LanguageModelV2, type LanguageModelV3 } from '@ai-sdk/provider';
import { type AiSdkLanguageModel, AiSdkSummaryModel, SummaryModelError } from '../../../src/summarizer/models/index.js';
import type { AiSdkCallOptions } from '../../../src/summarizer/models/index.js';

const request = { prompt: 'Summarize: Ann lives in Rome.', conversation: [], maxSummaryLength: 1_000 };
const usage = { inputTokens: { total: 120 }, outputTokens: { total: 34 } };
const content = [{ type: 'text', text: 'Ann lives in Rome.' }];
const good = { content, finishReason: { unified: 'stop', raw: 'end_turn' }, usage };

/** A model that returns these answers in order, and records its calls. */
function modelOf(version: 'v2' | 'v3' | 'v4', ...answers: unknown[]) {
  const calls: AiSdkCallOptions[] = [];
  const model: AiSdkLanguageModel = {
    specificationVersion: version,
    provider: 'anthropic',
    modelId: 'claude',
    doGenerate: async (options) => {
      calls.push(options);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer as typeof good;
    },
  };
  return { calls, model };
}

const wait = async () => {};
const summarize = (model: AiSdkLanguageModel, options = {}, signal = new AbortController().signal) =>
  new AiSdkSummaryModel(model, { wait, ...options }).summarize(request, { signal });

/** Compiles only if the models of the SDK are compatible. */
export function acceptsModelsOfTheSdk(two: LanguageModelV2, three: LanguageModelV3): AiSdkSummaryModel[] {
  return [new AiSdkSummaryModel(two), new AiSdkSummaryModel(three)];
}

const callError = (statusCode: number | undefined, isRetryable?: boolean) =>
  new APICallError({
    message: 'Rome',
    url: 'https://ann:secret@model',
    requestBodyValues: { prompt: 'Rome' },
    statusCode,
    ...(isRetryable !== undefined && { isRetryable }),
    responseHeaders: { 'retry-after': '3600' },
  });

describe('AiSdkSummaryModel', () => {
  it('sends only text, and a signal', async () => {
    const { calls, model } = modelOf('v3', good);
    await summarize(model, { maxOutputTokens: 300 });

    expect(calls).toEqual([
      {
        prompt: [{ role: 'user', content: [{ type: 'text', text: request.prompt }] }],
        maxOutputTokens: 300,
        abortSignal: expect.any(AbortSignal),
      },
    ]);
    expect(new AiSdkSummaryModel(model).name).toBe('anthropic:claude');
  });

  it.each([
    ['v2', { content, finishReason: 'stop', usage: { inputTokens: 120, outputTokens: 34 } }],
    ['v3', good],
    ['v4', good],
  ] as const)('reads an answer of a %s model', async (version, answer) => {
    expect(await summarize(modelOf(version, answer).model)).toEqual({
      text: 'Ann lives in Rome.',
      unfinished: undefined,
      inputTokens: 120,
      outputTokens: 34,
    });
  });

  it('uses only the text parts of the content', async () => {
    const parts = [
      { type: 'reasoning', text: 'Hm.' },
      ...content,
      { type: 'file', data: 'x' },
      { type: 'text', text: ' Yes.' },
    ];

    expect(await summarize(modelOf('v3', { ...good, content: parts }).model)).toMatchObject({
      text: 'Ann lives in Rome. Yes.',
    });
  });

  it.each([
    ['length', 'length'],
    [{ unified: 'content-filter', raw: 'refusal' }, 'content-filter'],
    [{ unified: 'interrupted', raw: undefined }, 'interrupted'],
    [{ unified: 'other', raw: 'pause' }, 'other'],
    [{ unified: 'other', raw: undefined }, undefined],
    ['unknown', undefined],
  ])('treats the finish reason %j as unfinished: %s', async (finishReason, unfinished) => {
    expect((await summarize(modelOf('v3', { ...good, finishReason }).model)).unfinished).toBe(unfinished);
  });

  it('reports an empty answer as unfinished', async () => {
    expect(await summarize(modelOf('v3', { ...good, content: [] }).model)).toMatchObject({
      unfinished: 'the answer is empty',
    });
  });

  it('retries errors that the SDK marks as retryable', async () => {
    const { calls, model } = modelOf('v3', callError(undefined, true), callError(undefined, true), good);

    expect(await summarize(model)).toMatchObject({ text: 'Ann lives in Rome.' });
    expect(calls).toHaveLength(3);
  });

  it.each([
    ['a rate limit', callError(429), { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 3_600_000 }],
    ['a wrong key', callError(401), { code: 'REJECTED', retryable: false, status: 401 }],
    ['an unknown error', new TypeError('Rome'), { code: 'UNREACHABLE', retryable: false }],
    ['a missing answer', undefined, { code: 'BAD_ANSWER', retryable: false }],
  ])('reports %s without secrets', async (_, answer, expected) => {
    const { calls, model } = modelOf('v3', answer);
    const error: unknown = await summarize(model).catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(SummaryModelError);
    expect(error).toMatchObject(expected);
    expect(inspect(error, { depth: 9 })).not.toMatch(/Rome|secret/);
    expect(calls).toHaveLength(1);
  });

  it('ends even if the model ignores the signal', async () => {
    const hanging: AiSdkLanguageModel = { ...modelOf('v3').model, doGenerate: () => new Promise(() => {}) };
    await expect(summarize(hanging, { timeoutMs: 20, maxRetries: 1 })).rejects.toMatchObject({ code: 'TIMED_OUT' });

    const controller = new AbortController();
    const answer = summarize(hanging, {}, controller.signal);
    controller.abort(new Error('closing'));
    await expect(answer).rejects.toThrow('closing');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it.each([
    ['a model name', 'gpt'],
    ['a model of version 1', { specificationVersion: 'v1', doGenerate() {} }],
    ['undefined', undefined],
  ])('refuses %s in its constructor', (_, model) => {
    expect(() => new AiSdkSummaryModel(model as unknown as AiSdkLanguageModel)).toThrow(/specificationVersion/);
  });
});
