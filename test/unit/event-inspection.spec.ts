import { Event, getFunctionCalls, getFunctionResponses, isFinalResponse } from '../../src/index.js';
import type { EventInput, Part } from '../../src/index.js';
import {
  isAnchor,
  isByUser,
  isRewind,
  isSummary,
  listEventTexts,
} from '../../src/sessions/domain/event/event-inspection.js';

const CALL: Part = { functionCall: { id: 'c', name: 'search', args: {} } };
const ANSWER: Part = { functionResponse: { id: 'c', name: 'search', response: {} } };
const TEXT: Part = { text: 'hi' };

function eventOf(parts: Part[], more: EventInput = {}): EventInput {
  return { author: 'agent', content: { role: 'model', parts }, ...more };
}

describe('getFunctionCalls and getFunctionResponses', () => {
  it('return the calls and responses in the order of the parts', () => {
    const second = { functionCall: { id: 'd', name: 'other', args: {} } };
    const event = eventOf([TEXT, CALL, ANSWER, second]);
    expect(getFunctionCalls(event)).toEqual([CALL.functionCall, second.functionCall]);
    expect(getFunctionResponses(event)).toEqual([ANSWER.functionResponse]);
  });

  it.each([
    ['no content', {}],
    ['null as content', { content: null }],
    ['no parts', { content: { role: 'user' } }],
    ['empty parts', { content: { parts: [] } }],
    ['an empty Event', new Event()],
  ] satisfies [string, EventInput][])('return nothing for %s', (_name, event) => {
    expect(getFunctionCalls(event)).toEqual([]);
    expect(getFunctionResponses(event)).toEqual([]);
    expect(listEventTexts(event)).toEqual([]);
  });
});

describe('isFinalResponse', () => {
  it.each([
    ['text', eventOf([TEXT]), true],
    ['an event without content', {}, true],
    ['partial text', eventOf([TEXT], { partial: true }), false],
    ['complete text', eventOf([TEXT], { partial: false }), true],
    ['a tool call', eventOf([TEXT, CALL]), false],
    ['a tool response', eventOf([ANSWER]), false],
    ['a code execution result at the end', eventOf([TEXT, { codeExecutionResult: { outcome: 'OUTCOME_OK' } }]), false],
    ['a code execution result before text', eventOf([{ codeExecutionResult: { outcome: 'OUTCOME_OK' } }, TEXT]), true],
    [
      'no code execution result, as Python writes it',
      eventOf([{ text: 'hi', codeExecutionResult: null as never }]),
      true,
    ],
    ['executable code', eventOf([{ executableCode: { code: '1' } }]), true],
    ['a tool response with skipSummarization', eventOf([ANSWER], { actions: { skipSummarization: true } }), true],
    ['a long-running tool call', eventOf([CALL], { longRunningToolIds: ['c'] }), true],
    ['a tool call that asks for credentials', eventOf([CALL], { actions: { requestedAuthConfigs: { c: {} } } }), true],
    ['a tool call with empty requestedAuthConfigs', eventOf([CALL], { actions: { requestedAuthConfigs: {} } }), false],
    ['a tool call with an empty longRunningToolIds', eventOf([CALL], { longRunningToolIds: [] }), false],
  ] satisfies [string, EventInput, boolean][])('for %s', (_name, event, expected) => {
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
  ])('returns for the author %j: %j', (author, expected) => {
    expect(isByUser({ author })).toBe(expected);
  });
});

describe('isSummary, isRewind and isAnchor', () => {
  const summary = { author: 'system', actions: { compaction: { fromSeq: 1, toSeq: 2 } } };
  const rewind = { author: 'system', actions: { rewind: { toSeq: 0 } } };

  it('recognise summaries and rewinds by their actions', () => {
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
    ['a user message', { author: 'user' }, true],
    ['a message of the author USER', { author: 'USER' }, true],
    ['an agent message', { author: 'agent' }, false],
    ['a summary', summary, true],
    ['a rewind', rewind, false],
    ['a rewind by the user', { ...rewind, author: 'user' }, false],
    ['a tool response by the author user', eventOf([TEXT, ANSWER], { author: 'user' }), false],
    ['a tool call by the author user', eventOf([CALL], { author: 'user' }), true],
  ] satisfies [string, EventInput, boolean][])('decide whether %s is an anchor', (_name, event, expected) => {
    expect(isAnchor(event)).toBe(expected);
  });
});

describe('listEventTexts', () => {
  it('returns the texts that are not empty', () => {
    expect(listEventTexts(eventOf([TEXT, { text: '' }, CALL, { text: 'there' }]))).toEqual(['hi', 'there']);
    expect(listEventTexts(eventOf([{ text: 5 as never }]))).toEqual([]);
  });
});
