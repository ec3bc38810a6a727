import { Event, getFunctionCalls, getFunctionResponses, isFinalResponse } from '../../src/index.js';
import type { EventInput, Part } from '../../src/index.js';
import { isAnchor, isByUser, isRewind, isSummary, textsOf } from '../../src/sessions/domain/event-inspection.js';

const CALL: Part = { functionCall: { id: 'c', name: 'search', args: {} } };
const ANSWER: Part = { functionResponse: { id: 'c', name: 'search', response: {} } };
const TEXT: Part = { text: 'hi' };

function eventOf(parts: Part[], more: EventInput = {}): EventInput {
  return { author: 'agent', content: { role: 'model', parts }, ...more };
}

describe('getFunctionCalls and getFunctionResponses', () => {
  it('find what is among the parts, in order', () => {
    const second = { functionCall: { id: 'd', name: 'other', args: {} } };
    const event = eventOf([TEXT, CALL, ANSWER, second]);
    expect(getFunctionCalls(event)).toEqual([CALL.functionCall, second.functionCall]);
    expect(getFunctionResponses(event)).toEqual([ANSWER.functionResponse]);
  });

  it.each([
    ['no content', {}],
    ['null for content', { content: null }],
    ['no parts', { content: { role: 'user' } }],
    ['empty parts', { content: { parts: [] } }],
    ['an instance without anything', new Event()],
  ] satisfies [string, EventInput][])('find nothing in %s', (_name, event) => {
    expect(getFunctionCalls(event)).toEqual([]);
    expect(getFunctionResponses(event)).toEqual([]);
    expect(textsOf(event)).toEqual([]);
  });
});

describe('isFinalResponse', () => {
  it.each([
    ['text', eventOf([TEXT]), true],
    ['an event without content', {}, true],
    ['a piece of text', eventOf([TEXT], { partial: true }), false],
    ['a whole text', eventOf([TEXT], { partial: false }), true],
    ['a call', eventOf([TEXT, CALL]), false],
    ['an answer', eventOf([ANSWER]), false],
    ['a result of code at the end', eventOf([TEXT, { codeExecutionResult: { outcome: 'OUTCOME_OK' } }]), false],
    ['a result of code before text', eventOf([{ codeExecutionResult: { outcome: 'OUTCOME_OK' } }, TEXT]), true],
    ['code to run', eventOf([{ executableCode: { code: '1' } }]), true],
    ['an answer that is not to be summarised', eventOf([ANSWER], { actions: { skipSummarization: true } }), true],
    ['a call of a tool that takes long', eventOf([CALL], { longRunningToolIds: ['c'] }), true],
    ['a call beside an empty list of such tools', eventOf([CALL], { longRunningToolIds: [] }), false],
  ] satisfies [string, EventInput, boolean][])('of %s', (_name, event, expected) => {
    expect(isFinalResponse(event)).toBe(expected);
  });
});

describe('isByUser', () => {
  it.each([
    ['user', true],
    ['User', true],
    ['USER', true],
    ['users', false],
    [' user', false],
    ['agent', false],
    ['', false],
    [undefined, false],
  ])('of %j is %j', (author, expected) => {
    expect(isByUser({ author })).toBe(expected);
  });
});

describe('summaries, rewinds and anchors', () => {
  const summary = { author: 'system', actions: { compaction: { fromSeq: 1, toSeq: 2 } } };
  const rewind = { author: 'system', actions: { rewind: { toSeq: 0 } } };

  it('are told by their actions', () => {
    expect([isSummary(summary), isSummary(rewind), isSummary({}), isSummary({ actions: {} })]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect([isRewind(rewind), isRewind(summary), isRewind({}), isRewind({ actions: {} })]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it.each([
    ['a user', { author: 'user' }, true],
    ['a user in capitals', { author: 'USER' }, true],
    ['an agent', { author: 'agent' }, false],
    ['a summary', summary, true],
    ['a rewind', rewind, false],
    ['a rewind by the user', { ...rewind, author: 'user' }, false],
    ['the answer of a tool, brought by the user', eventOf([TEXT, ANSWER], { author: 'user' }), false],
    ['a call, brought by the user', eventOf([CALL], { author: 'user' }), true],
  ] satisfies [string, EventInput, boolean][])('%s: anchor or not', (_name, event, expected) => {
    expect(isAnchor(event)).toBe(expected);
  });
});

describe('textsOf', () => {
  it('gives the texts that are not empty', () => {
    expect(textsOf(eventOf([TEXT, { text: '' }, CALL, { text: 'there' }]))).toEqual(['hi', 'there']);
    expect(textsOf(eventOf([{ text: 5 as never }]))).toEqual([]);
  });
});
