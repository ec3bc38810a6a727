import { topic } from '../contract-runner.js';
import {
  type ServiceFixture,
  agentSays,
  load,
  sessionWith,
  shown,
  createSummaryEvent,
  times,
  toolAnswers,
  toolCalls,
  turns,
  userSays,
  view,
  wholeLog,
} from './support.js';

export const anchors = topic<ServiceFixture>('the newest events of a view', (test) => {
  test('without settings a view is the whole conversation', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessionWith(sessions, turns('a', 'u', 'a', 'a'));
    expect(await view(sessions)).toEqual(['a1', 'u2', 'a3', 'a4']);
    expect(shown(session)).toEqual(['a1', 'u2', 'a3', 'a4']);
  });

  test('a view keeps the newest events', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, turns('u', 'a', 'u', 'a', 'a'));
    expect(await view(sessions)).toEqual(['u3', 'a4', 'a5']);
  });

  test('a view begins at the first anchor that it keeps', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 4 } });
    await sessionWith(sessions, turns('u', 'a', 'a', 'u', 'a', 'u'));
    expect(await view(sessions)).toEqual(['u4', 'a5', 'u6']);
  });

  test('without an anchor among the kept events, the last one before them comes first', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, turns('u', 'a', 'u', 'a', 'a', 'a', 'a'));
    expect(await view(sessions)).toEqual(['u3', 'a6', 'a7']);
  });

  test('an anchor is found at any distance', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    const session = await sessionWith(sessions, [...turns('u', 'u'), ...times(70, (index) => agentSays(`x${index}`))]);
    expect(await view(sessions)).toEqual(['u2', 'x68', 'x69']);
    expect(shown(session)).toEqual(['u2', 'x68', 'x69']);
  });

  test('without any anchor a view has only the newest events', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, turns('a', 'a', 'a'));
    expect(await view(sessions)).toEqual(['a2', 'a3']);
  });

  test('the author user is an anchor in upper and lower case', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    await sessionWith(sessions, [userSays('one', { author: 'USER' }), ...turns('a', 'a', 'a')]);
    expect(await view(sessions)).toEqual(['one', 'a2', 'a3']);
  });

  test('a tool response by any author is no anchor', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2 } });
    const answer = { ...toolAnswers('t'), author: 'user' };
    await sessionWith(sessions, [userSays('u1'), toolCalls('t'), answer, agentSays('a4')]);
    expect(await view(sessions)).toEqual(['u1', 'call:t', 'answer:t', 'a4']);
  });

  test('a view as long as the conversation is complete', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    await sessionWith(sessions, turns('a', 'u', 'a'));
    expect(await view(sessions)).toEqual(['u2', 'a3']);
    const longer = await open({ history: { maxEvents: 4 } });
    await sessionWith(longer.sessions, turns('u', 'a', 'a'));
    expect(await view(longer.sessions)).toEqual(['u1', 'a2', 'a3']);
  });

  test('after every append, a session object has the view of a new reader', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 3 } });
    const session = await sessionWith(sessions);
    const script = [
      ...turns('a', 'a', 'a', 'a', 'u', 'a', 'a', 'a', 'a', 'u', 'u', 'a'),
      toolCalls('t'),
      agentSays('wait'),
      agentSays('wait more'),
      toolAnswers('t'),
      ...turns('a', 'a'),
      createSummaryEvent(1, 14),
      ...turns('a', 'a', 'a', 'a', 'u', 'a'),
    ];
    for (const event of script) {
      await sessions.appendEvent({ session, event });
      expect(shown(session)).toEqual(await view(sessions));
    }
  });

  test('events that leave the view stay in the log', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 1 } });
    await sessionWith(sessions, turns('u', 'a', 'u', 'a'));
    expect(await wholeLog(sessions)).toHaveLength(4);
    expect(await load(sessions)).toMatchObject({ version: 4, conversationCount: 2 });
  });

  test('a read limit does not apply to the object after an append', async ({ open }) => {
    const { sessions } = await open({ history: { numRecentEvents: 2 } });
    const session = await sessionWith(sessions, turns('u', 'a', 'u', 'a'));
    expect(shown(session)).toEqual(['u1', 'a2', 'u3', 'a4']);
    expect(await view(sessions)).toEqual(['u3', 'a4']);
  });

  test('the stricter of two read limits applies', async ({ open }) => {
    const stricterRead = await open({ history: { maxEvents: 4, numRecentEvents: 1 } });
    const session = await sessionWith(stricterRead.sessions, turns('u', 'a', 'u', 'u', 'u'));
    expect(shown(session)).toEqual(['u3', 'u4', 'u5']);
    expect(await view(stricterRead.sessions)).toEqual(['u5']);
    const stricterAppend = await open({ history: { maxEvents: 1, numRecentEvents: 4 } });
    await sessionWith(stricterAppend.sessions, turns('u', 'a', 'u', 'u'));
    expect(await view(stricterAppend.sessions)).toEqual(['u4']);
  });

  test('filtering on read writes nothing', async ({ open }) => {
    const { sessions, raw } = await open({
      history: { maxEvents: 2, numRecentEvents: 1, eventTtlSeconds: 5, keepHistory: false },
    });
    await sessionWith(sessions, turns('u', 'a', 'u', 'a', 'a'));
    const before = await raw();
    await view(sessions);
    await view(sessions, { numRecentEvents: 1 });
    await sessions.whenIdle();
    expect(await raw()).toEqual(before);
  });
});
