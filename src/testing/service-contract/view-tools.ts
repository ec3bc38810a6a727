import { topic } from '../contract-runner.js';
import {
  type ServiceFixture,
  agentSays,
  sessionWith,
  shown,
  times,
  toolAnswers,
  toolCalls,
  userSays,
  view,
} from './support.js';

export const tools = topic<ServiceFixture>('tool calls at the cut of a view', (test) => {
  test('an answer at the cut pulls the cut back to its call', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    const session = await sessionWith(sessions, [userSays('u1'), toolCalls('t'), toolAnswers('t'), agentSays('a4')]);
    expect(await view(sessions)).toEqual(['u1', 'call:t', 'answer:t', 'a4']);
    expect(shown(session)).toEqual(['u1', 'call:t', 'answer:t', 'a4']);
  });

  test('a cut is pulled back by 20 events', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 1 } });
    const between = times(19, (index) => `x${index}`);
    const session = await sessionWith(sessions, [
      userSays('u1'),
      agentSays('a2'),
      toolCalls('t'),
      ...between.map((text) => agentSays(text)),
      toolAnswers('t'),
    ]);
    expect(await view(sessions)).toEqual(['u1', 'call:t', ...between, 'answer:t']);
    expect(shown(session)).toEqual(await view(sessions));
  });

  test('an answer whose call lies farther back leaves the view', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    const session = await sessionWith(sessions, [
      userSays('u1'),
      toolCalls('t'),
      ...times(20, (index) => agentSays(`x${index}`)),
      toolAnswers('t'),
      agentSays('last'),
    ]);
    expect(await view(sessions)).toEqual(['u1', 'last']);
    expect(shown(session)).toEqual(['u1', 'last']);
  });

  test('an answer that has no call leaves the view', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, [userSays('u1'), agentSays('a2'), toolAnswers('never called'), agentSays('a4')]);
    expect(await view(sessions)).toEqual(['u1', 'a4']);
  });

  test('after an orphan left, the next answer at the cut is looked at in the same way', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, [
      userSays('u1'),
      toolCalls('t'),
      agentSays('a3'),
      toolAnswers('never called'),
      toolAnswers('t'),
      agentSays('a6'),
    ]);
    expect(await view(sessions)).toEqual(['u1', 'call:t', 'a3', 'answer:t', 'a6']);
  });

  test('parallel calls pull the cut back together', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, [
      userSays('u1'),
      toolCalls('s'),
      toolCalls('t', 'u'),
      toolAnswers('s'),
      toolAnswers('t', 'u'),
      agentSays('a6'),
    ]);
    expect(await view(sessions)).toEqual(['u1', 'call:t call:u', 'answer:s', 'answer:t answer:u', 'a6']);
  });

  test('an event with several answers needs every one of its calls', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 1 } });
    await sessionWith(sessions, [userSays('u1'), toolCalls('s'), toolCalls('t'), toolAnswers('s', 't')]);
    expect(await view(sessions)).toEqual(['u1', 'call:s', 'call:t', 'answer:s answer:t']);
    const other = await open({ history: { maxEvents: 1 } });
    await sessionWith(other.sessions, [userSays('u1'), toolCalls('s'), toolAnswers('s', 'never called')]);
    expect(await view(other.sessions)).toEqual(['u1']);
  });

  test('calls without ids are found by the name of the tool', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 1 } });
    await sessionWith(sessions, [
      userSays('u1'),
      { author: 'agent', content: { role: 'model', parts: [{ functionCall: { name: 'search', args: {} } }] } },
      { author: 'agent', content: { role: 'model', parts: [{ functionCall: { name: 'other', args: {} } }] } },
      { author: 'agent', content: { role: 'user', parts: [{ functionResponse: { name: 'search', response: {} } }] } },
    ]);
    expect(await view(sessions)).toEqual(['u1', 'call:search', 'call:other', 'answer:search']);
  });

  test('an answer before the first anchor that is kept does not come into the view', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, [userSays('u1'), toolCalls('t'), toolAnswers('t'), userSays('u4'), agentSays('a5')]);
    expect(await view(sessions)).toEqual(['u4', 'a5']);
  });

  test('an answer beside its call pulls nothing back', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, [userSays('u1'), agentSays('a2'), toolCalls('t'), toolAnswers('t'), agentSays('a5')]);
    expect(await view(sessions)).toEqual(['u1', 'call:t', 'answer:t', 'a5']);
  });
});
