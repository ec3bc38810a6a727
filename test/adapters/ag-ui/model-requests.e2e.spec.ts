import { toMessages } from '../../../src/agents/index.js';
import { InMemorySessionStorage } from '../../../src/index.js';
import { frameworks } from '../../rest/rest-app.js';
import { Instance } from './support/instance.js';
import { asked } from './support/agent.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 't1' };

it.each(frameworks)('An answer in a run of AG-UI on %s says what its model was given', async (framework) => {
  const instance = await Instance.start(framework, new InMemorySessionStorage());
  try {
    const page = instance.page();
    await page.say('hello', 'u1').runAgent();
    await page.say('model', 'u2').runAgent();
    const { events: log } = await instance.sessions.listEvents(KEY);
    const answer = log.find(({ modelRequest }) => modelRequest);
    const report = await instance.sessions.getModelRequest({ ...KEY, seq: answer?.seq ?? 0 });
    const given = report?.given.flatMap(([from, to]) => log.filter(({ seq }) => seq >= from && seq <= to)) ?? [];
    expect(given.map(({ author }) => author)).toEqual(['user', 'support', 'user']);
    expect(JSON.stringify(toMessages(given, { format: 'openai' }))).toBe(asked.at(-1));
    expect(report).toMatchObject({ isExact: true, instructions: { value: 'Be brief.' }, model: 'm-1' });
  } finally {
    await instance.close();
  }
});
