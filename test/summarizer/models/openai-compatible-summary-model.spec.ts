import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import {
  type OpenAiCompatibleOptions,
  OpenAiCompatibleSummaryModel,
  SummaryModelError,
} from '../../../src/summarizer/models/index.js';
import { FakeModelServer, completion, cutBody, hang, json, raw, resetConnection } from './fake-model-server.js';

const KEY = 'sk-very-secret-4711';
const PROMPT = 'Summarize: Ann lives in Rome.';
const request = { prompt: PROMPT, conversation: [], maxSummaryLength: 1_000 };
const good = completion('Ann lives in Rome.');

let server: FakeModelServer;
let waits: number[];

beforeAll(async () => {
  server = await FakeModelServer.open();
});
beforeEach(() => {
  waits = [];
});
afterEach(() => {
  jest.useRealTimers();
});
afterAll(() => server.close());

const modelWith = (options: Partial<OpenAiCompatibleOptions> = {}) =>
  new OpenAiCompatibleSummaryModel({
    baseUrl: `${server.url}/v1/`,
    apiKey: KEY,
    model: 'small',
    wait: async (ms) => waits.push(ms),
    ...options,
  });
const summarize = (options: Partial<OpenAiCompatibleOptions> = {}, signal = new AbortController().signal) =>
  modelWith(options).summarize(request, { signal });

const forever = () => new Promise<never>(() => {});

const limited = async () => Response.json({}, { status: 429, headers: { 'Retry-After': '50' } });

async function failure(answer: Promise<unknown>): Promise<SummaryModelError> {
  const error: unknown = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SummaryModelError);
  for (const secret of [KEY, 'Rome', server.url]) expect(inspect(error, { depth: 9 })).not.toContain(secret);
  return error as SummaryModelError;
}

describe('OpenAiCompatibleSummaryModel', () => {
  it('requests a completion and reads it', async () => {
    server.does(good);

    expect(await summarize({ maxTokens: 300, headers: { 'X-Title': 'shop' }, body: { seed: 1 } })).toEqual({
      text: 'Ann lives in Rome.',
      unfinished: undefined,
      inputTokens: 120,
      outputTokens: 34,
    });
    const [{ path, headers, body }] = server.received as [(typeof server.received)[0]];
    expect(path).toBe('/v1/chat/completions');
    expect(headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-title': 'shop' });
    expect(JSON.parse(body)).toEqual({
      model: 'small',
      messages: [{ role: 'user', content: PROMPT }],
      max_tokens: 300,
      seed: 1,
    });
  });

  it.each([
    [
      'text parts',
      completion([
        { type: 'text', text: 'Ann ' },
        { type: 'text', text: 'lives.' },
      ]),
      'Ann lives.',
    ],
    [
      'reasoning parts',
      completion([
        { type: 'reasoning', text: 'Hm, Ann.' },
        { type: 'text', text: 'Ann lives.' },
      ]),
      'Ann lives.',
    ],
    ['reasoning without an opening tag', completion('Hm, Ann.\n</think>\n\nAnn lives.'), 'Ann lives.'],
    [
      'think tags in the text',
      completion('Ann asks what <think> and </think> are.'),
      'Ann asks what <think> and </think> are.',
    ],
    ['reasoning before the text', completion('<think>Hm, Ann.</think>\n\nAnn lives.'), 'Ann lives.'],
    ['no finish reason', completion('Ann lives.', { finish_reason: null }), 'Ann lives.'],
  ])('reads an answer with %s', async (_, behaviour, text) => {
    server.does(behaviour);

    expect(await summarize()).toMatchObject({ text, unfinished: undefined });
  });

  it.each([
    ['is cut off', completion('Ann li', { finish_reason: 'length' }), 'length'],
    ['is filtered', completion('', { finish_reason: 'content_filter' }), 'content_filter'],
    ['calls a tool', completion(null, { finish_reason: 'tool_calls' }), 'tool_calls'],
    ['refuses', completion(null, {}, { refusal: 'I will not speak of Rome.' }), 'the model refused'],
    ['is empty', completion(' \n'), 'the answer is empty'],
    ['has no text', completion(null), 'the answer is empty'],
    ['contains only reasoning', completion('<think>Hm, Ann'), 'the answer is empty'],
  ])('reports an answer as unfinished if it %s', async (_, behaviour, unfinished) => {
    server.does(behaviour);

    expect(await summarize()).toMatchObject({ unfinished });
    expect(server.received).toHaveLength(1);
  });

  it('retries after two failures with increasing pauses', async () => {
    server.does(json({}, 500), json({}, 503), good);

    expect(await summarize()).toMatchObject({ text: 'Ann lives in Rome.' });
    expect(waits).toEqual([expect.any(Number), expect.any(Number)]);
    expect(waits[0]).toBeGreaterThanOrEqual(250);
    expect(waits[1]).toBeGreaterThanOrEqual(500);
  });

  it('respects Retry-After in seconds', async () => {
    server.does(json({}, 429, { 'Retry-After': '7' }), good);
    await summarize();

    expect(waits).toEqual([7_000]);
  });

  it('respects Retry-After with a date', async () => {
    const inTenSeconds = new Date(Date.now() + 10_000).toUTCString();
    server.does(json({}, 429, { 'Retry-After': inTenSeconds }), good);
    await summarize();

    expect(waits[0]).toBeGreaterThan(5_000);
    expect(waits[0]).toBeLessThanOrEqual(10_000);
  });

  it('does not wait for an hour, but returns retryAfterMs', async () => {
    server.does(json({ error: { code: 'rate_limit_exceeded' } }, 429, { 'Retry-After': '3600' }));

    expect(await failure(summarize())).toMatchObject({
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfterMs: 3_600_000,
      message: 'The provider answered with status 429 (rate_limit_exceeded).',
    });
    expect(waits).toEqual([]);
  });

  it.each([
    ['status 408', json({}, 408), 'PROVIDER_FAILED'],
    ['status 409', json({}, 409), 'PROVIDER_FAILED'],
    ['status 429', json({}, 429), 'RATE_LIMITED'],
    ['status 500', json({}, 500), 'PROVIDER_FAILED'],
    ['a connection reset', resetConnection, 'UNREACHABLE'],
    ['a truncated body', cutBody, 'UNREACHABLE'],
    ['an error with status 200', json({ error: { code: 502, message: 'Rome' } }), 'PROVIDER_FAILED'],
  ])('fails after three attempts with %s', async (_, behaviour, code) => {
    server.does(behaviour);

    expect(await failure(summarize())).toMatchObject({ code, retryable: true });
    expect(server.received).toHaveLength(3);
  });

  it.each([
    [
      'a wrong key',
      json({ error: { code: 'invalid_api_key', message: `Not ${KEY}` } }, 401),
      'REJECTED',
      /401 \(invalid_api_key\)/,
    ],
    ['a key as error code', json({ error: { code: KEY, type: KEY } }, 400), 'REJECTED', /status 400\.$/],
    ['an unknown model', json({ error: 'Rome?' }, 404), 'REJECTED', /404.*name of the model/],
    ['another content type', raw('<p>Rome</p>', 200, { 'Content-Type': 'text/html' }), 'BAD_ANSWER', /text\/html/],
    ['a body that is not JSON', raw('Rome', 200, { 'Content-Type': 'application/json' }), 'BAD_ANSWER', /not JSON/],
    ['JSON without a message', json({ choices: [] }), 'BAD_ANSWER', /no message/],
    ['JSON that is not an object', json(null), 'BAD_ANSWER', /no message/],
    ['a body that is too large', completion('Rome '.repeat(500_000)), 'BAD_ANSWER', /1048576 bytes/],
  ])('does not retry after %s', async (_, behaviour, code, message) => {
    server.does(behaviour);
    const error = await failure(summarize());

    expect(error).toMatchObject({ code, retryable: false });
    expect(error.message).toMatch(message);
    expect(server.received).toHaveLength(1);
  });

  describe('reveals no secret that the server returns', () => {
    const secret = 'open-sesame';
    const headers = { 'api-key': 'Basic shibboleth' };
    const options = () => ({ baseUrl: `${server.url}?key=abracadabra`, apiKey: secret, headers, maxRetries: 0 });

    it.each([
      ['as error code', json({ error: { code: secret } }, 401)],
      ['in upper case', json({ error: { code: `bad_${secret.toUpperCase()}` } }, 401)],
      ['from a header', json({ error: { code: 'shibboleth' } }, 401)],
      ['from the address', json({ error: { code: 'abracadabra' } }, 401)],
      ['as error code with status 200', json({ error: { code: secret, type: secret } })],
      ['as a content type', raw('', 200, { 'Content-Type': secret })],
    ])('%s', async (_, behaviour) => {
      server.does(behaviour);
      const error = await failure(summarize(options()));
      expect(inspect(error, { depth: 9 })).not.toMatch(/sesame|shibboleth|abracadabra/i);
    });

    it('as finish reason', async () => {
      server.does(completion('Ann li', { finish_reason: secret }));
      expect(await summarize(options())).toMatchObject({ unfinished: 'an unknown reason' });
    });
  });

  it('does not follow redirects with the key', async () => {
    const other = await FakeModelServer.open();
    other.does(good);
    server.does(json({}, 307, { Location: `${other.url}/v1/chat/completions` }));

    expect(await failure(summarize())).toMatchObject({ code: 'REJECTED', status: 307 });
    expect(other.received).toEqual([]);
    await other.close();
  });

  it('times out if the provider hangs', async () => {
    server.does(hang, good);

    expect(await summarize({ timeoutMs: 1_000 })).toMatchObject({ text: 'Ann lives in Rome.' });

    server.does(hang);
    expect(await failure(summarize({ timeoutMs: 500 }))).toMatchObject({ code: 'TIMED_OUT', retryable: true });
    expect(server.received).toHaveLength(3);
    expect(await failure(summarize({ totalTimeoutMs: 20 }))).toMatchObject({ code: 'TIMED_OUT' });
  });

  it('times out if fetch or the pause ignores the signal', async () => {
    const hanging = { totalTimeoutMs: 20, fetch: forever };
    expect(await failure(summarize(hanging))).toMatchObject({ code: 'TIMED_OUT' });

    server.does(json({}, 500));
    expect(await failure(summarize({ totalTimeoutMs: 100, wait: forever }))).toMatchObject({ code: 'TIMED_OUT' });
  });

  it('ends and closes the connection on abort', async () => {
    const controller = new AbortController();
    const closed = new Promise((resolve) => {
      server.does((response) => {
        response.socket?.once('close', resolve);
        controller.abort(new Error('closing'));
      });
    });

    await expect(summarize({}, controller.signal)).rejects.toThrow('closing');
    await closed;
    await expect(summarize({}, controller.signal)).rejects.toThrow('closing');
    expect(server.received).toHaveLength(1);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('ends a pause on abort, and leaves no timer', async () => {
    jest.useFakeTimers();
    const controller = new AbortController();
    const answer = summarize({ wait: undefined, fetch: limited, totalTimeoutMs: 100_000 }, controller.signal);
    const ended = expect(answer).rejects.toThrow('closing');
    await jest.advanceTimersByTimeAsync(10_000);
    expect(jest.getTimerCount()).toBe(2);
    controller.abort(new Error('closing'));

    await ended;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('reports an unreachable server', async () => {
    const stopped = await FakeModelServer.open();
    const baseUrl = stopped.url;
    await stopped.close();
    const error = await failure(summarize({ baseUrl }));

    expect(error).toMatchObject({ code: 'UNREACHABLE', retryable: true });
    expect(error.message).toContain('ECONNREFUSED');
    expect(waits).toHaveLength(2);
  });

  it.each([
    ['an invalid address', { baseUrl: 'Rome' }],
    ['an address with another protocol', { baseUrl: 'file:///Rome' }],
    ['a password in the address', { baseUrl: `https://ann:${KEY}@127.0.0.1/v1` }],
    ['a key that is not a valid header', { apiKey: `${KEY}\nx` }],
  ])('refuses %s in its constructor', async (_, options) => {
    const error = await failure((async () => modelWith(options))());

    expect(error).toMatchObject({ code: 'MISCONFIGURED', retryable: false });
  });

  it('does not reveal its key when it is printed', () => {
    expect(inspect(modelWith(), { depth: 9, showHidden: true })).not.toContain(KEY);
  });
});
