import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { digestAfter, EMPTY_DIGEST, requestTextsOf } from '../../src/sessions/domain/stored/component.js';
import { requestHash } from '../../src/sessions/domain/event/model-request.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'one' };
const PROMPT = 'Be brief.';

describe('instructions that were damaged in the store', () => {
  it.each(['"Be rude."', 'no JSON'])('do not pass for those that the model was given: %s', async (text) => {
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession(KEY);
    const modelRequest = { given: [], instructions: PROMPT };
    const { seq } = await sessions.appendEvent({ session, event: { author: 'agent', modelRequest } });
    const place = { session: requestTextsOf(KEY), name: requestHash(PROMPT), kind: 'value' } as const;
    const digest = digestAfter(EMPTY_DIGEST, [text]);
    await storage.components?.write({ place, keep: 0, keptDigest: EMPTY_DIGEST, texts: [text], digest, ttlMs: 60_000 });
    await expect(sessions.getModelRequest({ ...KEY, seq })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('damaged'),
    });
    await sessions.close();
  });
});
