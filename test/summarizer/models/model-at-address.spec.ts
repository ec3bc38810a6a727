import { once } from 'node:events';
import { inspect } from 'node:util';
import type { ModelAddress } from '../../../src/config/summarizer-settings.js';
import { SummaryModelError } from '../../../src/summarizer/models/index.js';
import { modelAtAddress } from '../../../src/summarizer/models/model-at-address.js';
import { FakeModelServer, completion, cutBody, hang, json, raw, resetConnection } from './fake-model-server.js';

const KEY = 'sk-very-secret-4711';
const PROMPT = 'Summarize: Ann lives in Rome.';
const request = { prompt: PROMPT, conversation: [], maxSummaryLength: 1_000 };
const good = completion('Ann lives in Rome.');
const AT_ONCE = { 'Retry-After': '0' };

let server: FakeModelServer;
beforeAll(async () => {
  server = await FakeModelServer.open();
});
afterAll(() => server.close());

const modelWith = (address: Partial<ModelAddress> = {}) =>
  modelAtAddress({ baseUrl: `${server.url}/v1/`, apiKey: KEY, model: 'small', ...address });
const summarize = (address: Partial<ModelAddress> = {}, signal = new AbortController().signal) =>
  modelWith(address).summarize(request, { signal });

async function failure(answer: Promise<unknown>): Promise<SummaryModelError> {
  const error: unknown = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SummaryModelError);
  for (const secret of [KEY, 'Rome', server.url]) expect(inspect(error, { depth: 9 })).not.toContain(secret);
  return error as SummaryModelError;
}

describe('a model at an address', () => {
  it('gets a request with the prompt and the key, and its answer is read', async () => {
    server.does(good);

    expect(modelWith().name).toBe('small');
    expect(await summarize()).toEqual({
      text: 'Ann lives in Rome.',
      unfinished: undefined,
      inputTokens: 120,
      outputTokens: 34,
    });
    const [{ path, headers, body }] = server.received as [(typeof server.received)[0]];
    expect(path).toBe('/v1/chat/completions');
    expect(headers).toMatchObject({ authorization: `Bearer ${KEY}` });
    expect(JSON.parse(body)).toEqual({ model: 'small', messages: [{ role: 'user', content: PROMPT }] });
  });

  it('keeps the query of its address, and needs no key', async () => {
    server.does(good);
    await summarize({ baseUrl: `${server.url}/v1?api-version=7`, apiKey: undefined });

    expect(server.received).toMatchObject([{ path: '/v1/chat/completions?api-version=7' }]);
    expect(server.received[0]?.headers).not.toHaveProperty('authorization');
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
    ['reasoning before the text', completion('<think>Hm, Ann.</think>\n\nAnn lives.'), 'Ann lives.'],
    ['no finish reason', completion('Ann lives.', { finish_reason: null }), 'Ann lives.'],
  ])('may answer with %s', async (_, behaviour, text) => {
    server.does(behaviour);

    expect(await summarize()).toMatchObject({ text, unfinished: undefined });
  });

  it.each([
    ['is cut off', completion('Ann li', { finish_reason: 'length' }), 'length'],
    ['is filtered', completion('', { finish_reason: 'content_filter' }), 'content-filter'],
    ['calls a tool', completion(null, { finish_reason: 'tool_calls' }), 'tool-calls'],
    ['refuses', completion(null, {}, { refusal: 'I will not speak of Rome.' }), 'content-filter'],
    ['ends with the key', completion('Ann li', { finish_reason: KEY }), 'other'],
    ['has no text', completion(null), 'the answer is empty'],
  ])('is not finished if its answer %s', async (_, behaviour, unfinished) => {
    server.does(behaviour);

    expect(await summarize()).toMatchObject({ unfinished });
    expect(server.received).toHaveLength(1);
  });

  it('is asked again after a temporary failure', async () => {
    server.does(json({}, 500, AT_ONCE), json({}, 429, AT_ONCE), good);

    expect(await summarize()).toMatchObject({ text: 'Ann lives in Rome.' });
  });

  it.each([
    ['status 408', json({}, 408, AT_ONCE), 'PROVIDER_FAILED'],
    ['status 409', json({}, 409, AT_ONCE), 'PROVIDER_FAILED'],
    ['status 429', json({}, 429, AT_ONCE), 'RATE_LIMITED'],
    ['status 500', json({}, 500, AT_ONCE), 'PROVIDER_FAILED'],
  ])('fails after three attempts with %s', async (_, behaviour, code) => {
    server.does(behaviour);

    expect(await failure(summarize())).toMatchObject({ code });
    expect(server.received).toHaveLength(3);
  });

  it.each([
    ['a wrong key', json({ error: { code: KEY, message: `Not ${KEY}` } }, 401), 'REJECTED', /status 401.*key/],
    ['an unknown model', json({ error: 'Rome?' }, 404), 'REJECTED', /404.*name of the model/],
    ['another content type', raw(`<p>${KEY}</p>`, 200, { 'Content-Type': 'text/html' }), 'BAD_ANSWER', /no answer/],
    ['an error with status 200', json({ error: { code: 502, message: 'Rome' } }), 'BAD_ANSWER', /no answer/],
    ['JSON without a message', json({ choices: [] }), 'BAD_ANSWER', /no answer/],
    ['JSON that is not an object', json(null), 'BAD_ANSWER', /no answer/],
    ['a body that is too large', completion('Rome '.repeat(500_000)), 'BAD_ANSWER', /too large/],
  ])('is not asked again after %s', async (_, behaviour, code, message) => {
    server.does(behaviour);
    const error = await failure(summarize());

    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ['a truncated body', cutBody, 'BAD_ANSWER', /cut off/],
    ['a connection reset', resetConnection, 'UNREACHABLE', /ECONNRESET/],
  ])('fails after %s', async (_, behaviour, code, message) => {
    server.does(behaviour);
    const error = await failure(summarize());

    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  it('does not follow redirects with the key', async () => {
    const other = await FakeModelServer.open();
    other.does(good);
    server.does(json({}, 307, { Location: `${other.url}/v1/chat/completions` }));

    expect(await failure(summarize())).toMatchObject({ code: 'REJECTED', status: 307 });
    expect(other.received).toEqual([]);
    await other.close();
  });

  it('is left on abort, and its connection closed', async () => {
    const controller = new AbortController();
    const closed = new Promise((resolve) => {
      server.does((response) => {
        void once(response, 'close').then(resolve);
        controller.abort(new Error('closing'));
      });
    });

    await expect(summarize({}, controller.signal)).rejects.toThrow('closing');
    await closed;
    server.does(hang);
    await expect(summarize({}, controller.signal)).rejects.toThrow('closing');
    expect(server.received).toEqual([]);
  });

  it('does not show its key when it is printed', () => {
    expect(inspect(modelWith(), { depth: 9, showHidden: true })).not.toContain(KEY);
  });
});
