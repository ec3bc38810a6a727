import { checkedRun } from '../../src/agents/ask/run-request.js';
import { type OutputRule, withOutput } from '../../src/agents/invocation/output-key.js';
import { Event, type EventInput, InMemorySessionService, InvalidInputError, type Part } from '../../src/index.js';
import type { StandardSchema } from '../../src/state/standard-schema.js';

const RULE: OutputRule = { author: 'writer', outputKey: 'draft' };
const NOTHING = undefined;

const says = (...texts: string[]): Part[] => texts.map((text) => ({ text }));
const by = (author: string, parts: Part[], more: EventInput = {}): EventInput => ({
  author,
  content: { parts },
  ...more,
});
const byWriter = (parts: Part[], more: EventInput = {}): EventInput => by('writer', parts, more);

const CALL: Part = { functionCall: { id: 'c', name: 'search', args: {} } };
const ANSWER: Part = { functionResponse: { id: 'c', name: 'search', response: {} } };
const RESULT: Part = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '4' } };

function saved(event: EventInput, rule: OutputRule = RULE): unknown {
  return withOutput(event, rule).actions?.stateDelta?.[rule.outputKey];
}

/** What a caller passes on at this time. */
function attempt(now: number): Event {
  const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
  const event = withOutput(new Event(byWriter(says('Hello'), { id: 'e1' })), RULE);
  clock.mockRestore();
  return event;
}

describe('The output key', () => {
  it.each([
    ['the text of the final response', byWriter(says('Hello')), 'Hello'],
    ['all text parts, joined', byWriter(says('He', 'll', 'o')), 'Hello'],
    ['white space as it is', byWriter(says(' ')), ' '],
    ['text around other parts', byWriter([{ text: 'a' }, { inlineData: { data: '' } }, { text: 'b' }]), 'ab'],
    ['text without thoughts', byWriter([{ text: 'hm', thought: true }, { text: 'Hello' }]), 'Hello'],
    ['text after the result of code', byWriter([RESULT, { text: 'It is 4' }]), 'It is 4'],
    ['text beside a long-running call', byWriter([{ text: 'Wait' }, CALL], { longRunningToolIds: ['c'] }), 'Wait'],
    ['text with skipSummarization', byWriter([ANSWER, { text: 'ok' }], { actions: { skipSummarization: true } }), 'ok'],
    ['text of a failed event', byWriter(says('Hel'), { errorCode: 'MAX_TOKENS' }), 'Hel'],
    ['no text of another author', by('editor', says('Hello')), NOTHING],
    ['no text of an author whose name differs in case', by('Writer', says('Hello')), NOTHING],
    ['no text of the user', by('user', says('Hello')), NOTHING],
    ['no partial text', byWriter(says('Hel'), { partial: true }), NOTHING],
    [
      'no partial text with skipSummarization',
      byWriter(says('H'), { partial: true, actions: { skipSummarization: true } }),
      NOTHING,
    ],
    ['no text beside a call', byWriter([{ text: 'Let me see' }, CALL]), NOTHING],
    ['no text beside an answer', byWriter([ANSWER, { text: 'ok' }]), NOTHING],
    ['no text before the result of code', byWriter([{ text: 'It is' }, RESULT]), NOTHING],
    ['nothing of an event without content', { author: 'writer' }, NOTHING],
    ['nothing of null as content', { author: 'writer', content: null }, NOTHING],
    ['nothing of an event without parts', byWriter([]), NOTHING],
    ['nothing of an empty last chunk', byWriter(says('')), NOTHING],
    ['nothing of thoughts alone', byWriter([{ text: 'hm', thought: true }]), NOTHING],
    ['nothing of files alone', byWriter([{ inlineData: { mimeType: 'image/png', data: '' } }]), NOTHING],
  ] satisfies [string, EventInput, string | undefined][])('saves %s', (_title, event, expected) => {
    expect(saved(event)).toBe(expected);
  });

  it('returns an event without output as it is', () => {
    const event = byWriter(says('Hel'), { partial: true });
    expect(withOutput(event, RULE)).toBe(event);
  });

  it('keeps other changes of the event, wins over one of the same key, and leaves the given event as it was', () => {
    const actions = { stateDelta: { draft: 'old', step: 2 }, stateRemovals: ['draft', 'plan'], escalate: true };
    const event = byWriter(says('new'), { id: 'e1', actions });
    expect(withOutput(event, RULE)).toEqual({
      ...event,
      actions: { stateDelta: { draft: 'new', step: 2 }, stateRemovals: ['plan'], escalate: true },
    });
    expect(event.actions).toEqual({
      stateDelta: { draft: 'old', step: 2 },
      stateRemovals: ['draft', 'plan'],
      escalate: true,
    });
  });

  it('treats __proto__ as an ordinary key', () => {
    const { actions } = withOutput(byWriter(says('x')), { ...RULE, outputKey: '__proto__' });
    expect(Object.entries(actions?.stateDelta ?? {})).toEqual([['__proto__', 'x']]);
  });

  it.each(['draft', 'user:draft', 'app:draft', 'temp:draft'])(
    'rides on the event that is appended: %s',
    async (outputKey) => {
      const sessions = new InMemorySessionService();
      const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
      await sessions.appendEvent({ session, event: withOutput(byWriter(says('Hello')), { ...RULE, outputKey }) });
      expect(session.state.get(outputKey)).toBe('Hello');
      expect(session.events).toHaveLength(1);
    },
  );

  it.each(['', 'user:', undefined, 'k'.repeat(600)])('is refused where a run refuses it: %j', (outputKey) => {
    const rule = { ...RULE, outputKey: outputKey as string };
    const problem = 'outputKey: must be a state key, such as answer or user:answer';
    expect(() => withOutput(byWriter(says('Hello')), rule)).toThrow(problem);
    expect(() => withOutput(by('other', []), rule)).toThrow(InvalidInputError);
    if (outputKey === undefined) return;
    const request = { appName: 'shop', userId: 'ann', newMessage: 'hi', outputKey };
    expect(() => checkedRun(request, () => 'r')).toThrow(problem);
  });

  it('leaves a retried event the same event', async () => {
    const sessions = new InMemorySessionService();
    const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
    await sessions.append({ session, event: attempt(1_700_000_000_000) });
    expect(await sessions.append({ session, event: attempt(1_700_000_000_001) })).toMatchObject({ duplicate: true });
  });
});

describe('The output key with a schema', () => {
  const rating: StandardSchema<unknown, { stars: number }> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => {
        const { stars } = value as { stars: unknown };
        return typeof stars === 'number' ? { value: { stars } } : { issues: [{ message: 'stars must be a number' }] };
      },
    },
  };
  const problems: string[] = [];
  const rule: OutputRule = { ...RULE, outputSchema: rating, onMismatch: (problem) => problems.push(problem) };
  beforeEach(() => problems.splice(0));

  it('saves what the schema makes of the JSON', () => {
    expect(saved(byWriter(says('{"stars": 4,', ' "more": 1}')), rule)).toEqual({ stars: 4 });
    expect(problems).toEqual([]);
  });

  it.each(['', '  \n'])('saves nothing of the blank text %j', (text) => {
    expect(saved(byWriter(says(text)), rule)).toBeUndefined();
    expect(problems).toEqual([]);
  });

  it('saves text that is no JSON, and reports it', () => {
    expect(saved(byWriter(says('four')), rule)).toBe('four');
    expect(problems).toEqual(['The output for "draft" is no JSON. Its text was saved.']);
  });

  it('saves JSON that breaks the schema as it is, and reports it', () => {
    expect(saved(byWriter(says('{"stars": "4"}')), rule)).toEqual({ stars: '4' });
    expect(problems).toEqual(['The output for "draft" does not fit its schema: stars must be a number']);
  });

  it.each([{}, { '~standard': {} }, () => ({ value: 1 })])('refuses what is no schema', (outputSchema) => {
    const given = { ...rule, outputSchema: outputSchema as never };
    expect(() => saved(byWriter(says('{}')), given)).toThrow(
      'outputSchema: must be a schema of a library with Standard',
    );
  });

  it.each([null, undefined, 'four'])('refuses a schema that answers %j', (answer) => {
    const outputSchema: StandardSchema = {
      '~standard': { version: 1, vendor: 'own', validate: () => answer as never },
    };
    expect(() => saved(byWriter(says('{}')), { ...rule, outputSchema })).toThrow(
      'A schema of own answered neither a value nor issues',
    );
  });

  it('refuses a schema that answers later', () => {
    const later: StandardSchema = {
      '~standard': { version: 1, vendor: 'slow', validate: () => Promise.reject(new Error('too late')) },
    };
    expect(() => saved(byWriter(says('{}')), { ...rule, outputSchema: later })).toThrow(
      'A schema of slow validates asynchronously, or a function in it threw. Use one that answers at once.',
    );
  });
});
