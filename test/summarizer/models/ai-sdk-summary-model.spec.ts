import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { APICallError, type LanguageModelV2, type LanguageModelV3 } from '@ai-sdk/provider';
import { type AiSdkLanguageModel, AiSdkSummaryModel, SummaryModelError } from '../../../src/summarizer/models/index.js';

const request = { prompt: 'Summarize: Ann lives in Rome.', conversation: [], maxSummaryLength: 1_000 };
const usage = { inputTokens: { total: 120 }, outputTokens: { total: 34 } };
const content = [{ type: 'text', text: 'Ann lives in Rome.' }];
const good = { content, finishReason: { unified: 'stop', raw: 'end_turn' }, usage, warnings: [] };

/** A model that returns these answers in order, and records its calls. */
function modelOf(version: 'v2' | 'v3', ...answers: unknown[]) {
  const calls: object[] = [];
  const model: AiSdkLanguageModel & { readonly supportedUrls: object } = {
    specificationVersion: version,
    provider: 'anthropic',
    modelId: 'claude',
    supportedUrls: {},
    doGenerate: async (options) => {
      calls.push(options);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { calls, model };
}

const summarize = (model: AiSdkLanguageModel, options = {}, signal = new AbortController().signal) =>
  new AiSdkSummaryModel(model, options).summarize(request, { signal });

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
    responseHeaders: { 'retry-after': '0' },
    cause: Object.assign(new Error('Rome'), { code: 'ECONNRESET' }),
  });

describe('AiSdkSummaryModel', () => {
  // The SDK tells about models of an older interface once.
  beforeAll(() => Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false }));
  afterAll(() => Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: undefined }));

  it('sends only text, and a signal', async () => {
    const { calls, model } = modelOf('v3', good);
    await summarize(model, { maxOutputTokens: 300, temperature: 0.5 });

    expect(calls).toEqual([
      expect.objectContaining({
        prompt: [expect.objectContaining({ role: 'user', content: [{ type: 'text', text: request.prompt }] })],
        maxOutputTokens: 300,
        temperature: 0.5,
        abortSignal: expect.any(AbortSignal),
        tools: undefined,
      }),
    ]);
    expect(new AiSdkSummaryModel(model).name).toBe('anthropic:claude');
  });

  it.each([
    ['v2', { ...good, finishReason: 'stop', usage: { inputTokens: 120, outputTokens: 34 } }],
    ['v3', good],
  ] as const)('reads an answer of a %s model', async (version, answer) => {
    expect(await summarize(modelOf(version, answer).model)).toEqual({
      text: 'Ann lives in Rome.',
      unfinished: undefined,
      inputTokens: 120,
      outputTokens: 34,
    });
  });

  it.each([
    [
      'reasoning parts',
      [{ type: 'reasoning', text: 'Hm.' }, ...content, { type: 'text', text: ' Yes.' }],
      'Ann lives in Rome. Yes.',
    ],
    ['reasoning in the text', [{ type: 'text', text: '<think>Hm, Ann.</think>\n\nAnn lives.' }], 'Ann lives.'],
    ['reasoning without an opening tag', [{ type: 'text', text: 'Hm, Ann.\n</think>\n\nAnn lives.' }], 'Ann lives.'],
    [
      'think tags in the text',
      [{ type: 'text', text: 'Ann asks what <think> and </think> are.' }],
      'Ann asks what <think> and </think> are.',
    ],
  ])('reads an answer with %s', async (_, parts, text) => {
    expect(await summarize(modelOf('v3', { ...good, content: parts }).model)).toMatchObject({ text });
  });

  it.each([
    [{ unified: 'length', raw: 'max_tokens' }, 'length'],
    [{ unified: 'content-filter', raw: 'refusal' }, 'content-filter'],
    [{ unified: 'tool-calls', raw: 'tool_use' }, 'tool-calls'],
    [{ unified: 'other', raw: 'pause' }, 'other'],
    [{ unified: 'other', raw: 'eos' }, undefined],
    [{ unified: 'other', raw: undefined }, undefined],
  ])('treats the finish reason %j as unfinished: %s', async (finishReason, unfinished) => {
    expect((await summarize(modelOf('v3', { ...good, finishReason }).model)).unfinished).toBe(unfinished);
  });

  it.each([
    ['no text', []],
    ['only reasoning', [{ type: 'text', text: '<think>Hm, Ann' }]],
  ])('reports an answer with %s as unfinished', async (_, parts) => {
    expect(await summarize(modelOf('v3', { ...good, content: parts }).model)).toMatchObject({
      unfinished: 'the answer is empty',
    });
  });

  it('retries errors that the SDK marks as retryable', async () => {
    const { calls, model } = modelOf('v3', callError(undefined, true), callError(503), good);

    expect(await summarize(model)).toMatchObject({ text: 'Ann lives in Rome.' });
    expect(calls).toHaveLength(3);
  });

  it.each([
    ['a rate limit', callError(429), { code: 'RATE_LIMITED', status: 429 }, 2],
    ['a provider that fails', callError(500), { code: 'PROVIDER_FAILED', status: 500 }, 2],
    ['a wrong key', callError(401), { code: 'REJECTED', status: 401, message: expect.stringMatching(/key/) }, 1],
    [
      'a broken connection',
      callError(undefined),
      { code: 'UNREACHABLE', message: expect.stringMatching('ECONNRESET') },
      1,
    ],
    [
      'an unknown error',
      new TypeError('Rome'),
      { code: 'UNREACHABLE', message: expect.stringMatching('TypeError') },
      1,
    ],
    ['a missing answer', undefined, { code: 'UNREACHABLE' }, 1],
  ])('reports %s without secrets', async (_, answer, expected, attempts) => {
    const { calls, model } = modelOf('v3', answer);
    const error: unknown = await summarize(model, { maxRetries: 1 }).catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(SummaryModelError);
    expect(error).toMatchObject(expected);
    expect(inspect(error, { depth: 9 })).not.toMatch(/Rome|secret/);
    expect(calls).toHaveLength(attempts);
  });

  it('ends a pause between attempts on abort, with its reason', async () => {
    const controller = new AbortController();
    const failure = callError(503);
    const { model } = modelOf('v3', Object.assign(failure, { responseHeaders: { 'retry-after': '50' } }));
    const calling = { ...model, doGenerate: async () => Promise.reject(failure) };
    const answer = summarize(calling, {}, controller.signal);
    setImmediate(() => controller.abort(new Error('closing')));

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
