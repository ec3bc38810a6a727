import { InMemorySessionService } from '../../src/index.js';
import { isPlainObject } from '../../src/sessions/domain/values/json-value.js';

describe('The message about an event of the wrong shape', () => {
  it.each([
    [
      'hello',
      "$: an event must be an object, such as { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } }",
    ],
    [
      new (class Said {
        author = 'user';
      })(),
      "$: an event must be a plain object, not Said, such as { author: 'user', content: {",
    ],
    [[], "$: an event must be a plain object, not Array, such as { author: 'user'"],
    [{ content: 'hello' }, "$.content: must be an object, such as { role: 'user', parts: [{ text: 'Hello' }] }"],
    [{ content: { parts: 'hello' } }, "$.content.parts: must be an array, such as [{ text: 'Hello' }]"],
    [{ content: { parts: ['hello'] } }, "$.content.parts[0]: must be an object, such as { text: 'Hello' }"],
    [{ actions: 7 }, '$.actions: must be an object, such as { stateDelta: { step: 1 } }'],
    [{ longRunningToolIds: 'c' }, "$.longRunningToolIds: must be an array, such as ['call-1']"],
  ])('shows the one that is expected: %j', async (event, message) => {
    const sessions = new InMemorySessionService();
    const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
    const isWhole = typeof event === 'string' || !isPlainObject(event);
    const given = isWhole ? event : { author: 'user', ...event };
    await expect(sessions.appendEvent({ session, event: given as never })).rejects.toThrow(message);
  });
});
