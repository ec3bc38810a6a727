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
  test('a response at the cut moves the cut back to its call', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    const session = await sessionWith(sessions, [userSays('u1'), toolCalls('t'), toolAnswers('t'), agentSays('a4')]);
    expect(await view(sessions)).toEqual(['u1', 'call:t', 'answer:t', 'a4']);
    expect(shown(session)).toEqual(['u1', 'call:t', 'answer:t', 'a4']);
  });

  test('a cut moves back by at most 20 events', async ({ open }) => {
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

  test('a tool response whose call is farther back is dropped', async ({ open }) => {
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

  test('a tool response without call is dropped', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, [userSays('u1'), agentSays('a2'), toolAnswers('never called'), agentSays('a4')]);
    expect(await view(sessions)).toEqual(['u1', 'a4']);
  });

  test('after a dropped response, the next one at the cut is checked too', async ({ open }) => {
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

  test('parallel calls move the cut back together', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, [
      userSays('u1'),
      toolCalls('s'),
      toolCalls('t', 'u'),
      toolAnswers('s'),
      toolAnswers('t', 'u'),
      agentSays('a6'),
    ]);
    const whole = ['u1', 'call:s', 'call:t call:u', 'answer:s', 'answer:t answer:u', 'a6'];
    expect(await view(sessions)).toEqual(whole);
  });

  test('an event with several responses needs all of their calls', async ({ open }) => {
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

  test('a response that is added with another one adds its own call', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    const events = [
      userSays('u1'),
      toolCalls('s'),
      toolCalls('t'),
      toolAnswers('s'),
      toolAnswers('t'),
      agentSays('a6'),
    ];
    await sessionWith(sessions, events);
    expect(await view(sessions)).toEqual(['u1', 'call:s', 'call:t', 'answer:s', 'answer:t', 'a6']);
  });

  test('a tool response in the middle of a view adds its call', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    const events = [userSays('u1'), toolCalls('t'), agentSays('a3'), toolAnswers('t'), agentSays('a5')];
    await sessionWith(sessions, events);
    expect(await view(sessions)).toEqual(['u1', 'call:t', 'a3', 'answer:t', 'a5']);
  });

  test('a response after a message of the user adds its call, after the previous message', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    const events = [userSays('u1'), agentSays('a2'), toolCalls('t'), userSays('u4'), toolAnswers('t'), agentSays('a6')];
    await sessionWith(sessions, events);
    expect(await view(sessions)).toEqual(['u1', 'call:t', 'u4', 'answer:t', 'a6']);
  });

  test('a response in the middle of a view is dropped if its call is out of reach', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    const events = [
      userSays('u1'),
      toolCalls('t'),
      ...times(20, (index) => agentSays(`x${index}`)),
      userSays('u23'),
      toolAnswers('t'),
      agentSays('a25'),
    ];
    await sessionWith(sessions, events);
    expect(await view(sessions)).toEqual(['u23', 'a25']);
  });

  test('responses to the calls of a dropped event are dropped too', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 5 } });
    const answersAndCalls = {
      author: 'agent',
      content: { parts: [...(toolAnswers('lost').content?.parts ?? []), ...(toolCalls('t').content?.parts ?? [])] },
    };
    await sessionWith(sessions, [userSays('u1'), answersAndCalls, toolAnswers('t'), agentSays('a4')]);
    expect(await view(sessions)).toEqual(['u1', 'a4']);
  });

  test('a tool response before the first retained anchor is not in the view', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, [userSays('u1'), toolCalls('t'), toolAnswers('t'), userSays('u4'), agentSays('a5')]);
    expect(await view(sessions)).toEqual(['u4', 'a5']);
  });

  test('a tool response next to its call adds no other events', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, [userSays('u1'), agentSays('a2'), toolCalls('t'), toolAnswers('t'), agentSays('a5')]);
    expect(await view(sessions)).toEqual(['u1', 'call:t', 'answer:t', 'a5']);
  });
});
