import type { EventInput } from '../../../../src/index.js';

type Row = readonly [name: string, event: unknown, path: string];

function part(value: unknown): object {
  return { content: { role: 'user', parts: [{ text: 'ok' }, value] } };
}

/** Events whose shape is wrong, with the path that is refused. */
export const ILLEGAL_EVENTS: readonly Row[] = [
  ['nothing', undefined, '$'],
  ['null', null, '$'],
  ['text', 'hello', '$'],
  ['an array', [], '$'],
  ['a Map', new Map(), '$'],
  ['an id that is a number', { id: 5 }, '$.id'],
  ['an id with a line break', { id: 'a\nb' }, '$.id'],
  ['an id of 192 bytes', { id: 'x'.repeat(192) }, '$.id'],
  ['an author that is a number', { author: 5 }, '$.author'],
  ['an event without author', { author: undefined }, '$.author'],
  ['an author that is null', { author: null }, '$.author'],
  ['an author that is white space', { author: ' \n' }, '$.author'],
  ['an event inside another object', { author: undefined, event: { author: 'user' } }, '$.author'],
  ['an invocation id that is an object', { invocationId: {} }, '$.invocationId'],
  ['a branch that is an array', { branch: [] }, '$.branch'],
  ['partial that is text', { partial: 'true' }, '$.partial'],
  ['a timestamp that is text', { timestamp: '2026-01-01' }, '$.timestamp'],
  ['a timestamp that is a date', { timestamp: new Date() }, '$.timestamp'],
  ['a timestamp before 1970', { timestamp: -1 }, '$.timestamp'],
  ['a timestamp that is NaN', { timestamp: NaN }, '$.timestamp'],
  ['a timestamp beyond every date', { timestamp: 8.64e15 + 1 }, '$.timestamp'],
  ['content that is text', { content: 'hello' }, '$.content'],
  ['content that is an array', { content: [] }, '$.content'],
  ['parts that are an object', { content: { parts: {} } }, '$.content.parts'],
  ['a part that is text', part('hello'), '$.content.parts[1]'],
  ['a part that is null', part(null), '$.content.parts[1]'],
  [
    'a part with a function',
    part({ functionCall: { args: { run: () => 1 } } }),
    '$.content.parts[1].functionCall.args.run',
  ],
  ['a part with bytes', part({ inlineData: { data: Buffer.from('a') } }), '$.content.parts[1].inlineData.data'],
  ['actions that are text', { actions: 'none' }, '$.actions'],
  ['actions that are an array', { actions: [] }, '$.actions'],
  ['a state delta that is an array', { actions: { stateDelta: [] } }, '$.actions.stateDelta'],
  ['a state delta that is a Map', { actions: { stateDelta: new Map() } }, '$.actions.stateDelta'],
  ['state removals that are text', { actions: { stateRemovals: 'k' } }, '$.actions.stateRemovals'],
  ['a state removal that is a number', { actions: { stateRemovals: ['k', 5] } }, '$.actions.stateRemovals'],
  ['a state removal that is no key', { actions: { stateRemovals: ['user:'] } }, '$.actions.stateRemovals["user:"]'],
  ['a key that is set and removed', { actions: { stateDelta: { k: 1 }, stateRemovals: ['k'] } }, '$.actions.k'],
  ['an unknown action with NaN', { actions: { unknown: [NaN] } }, '$.actions.unknown[0]'],
  ['an unknown field with a BigInt', { unknown: { a: 1n } }, '$.unknown.a'],
  ['tool ids that are text', { longRunningToolIds: 'c' }, '$.longRunningToolIds'],
  ['usage that is a number', { usageMetadata: 5 }, '$.usageMetadata'],
  ['usage with NaN', { usageMetadata: { totalTokenCount: NaN } }, '$.usageMetadata.totalTokenCount'],
  ['a summary that is text', { actions: { compaction: 'all' } }, '$.actions.compaction'],
  ['a summary from 0', { actions: { compaction: { fromSeq: 0, toSeq: 1 } } }, '$.actions.compaction.fromSeq'],
  ['a summary without end', { actions: { compaction: { fromSeq: 1 } } }, '$.actions.compaction.toSeq'],
  ['a summary backwards', { actions: { compaction: { fromSeq: 2, toSeq: 1 } } }, '$.actions.compaction.toSeq'],
  [
    'a summary of what is not there',
    { actions: { compaction: { fromSeq: 1, toSeq: 9 } } },
    '$.actions.compaction.toSeq',
  ],
  [
    'a summary that changes state',
    { actions: { compaction: { fromSeq: 1, toSeq: 1 }, stateDelta: { k: 1 } } },
    '$.actions',
  ],
  ['a rewind that is a number', { actions: { rewind: 1 } }, '$.actions.rewind'],
  ['a rewind to text', { actions: { rewind: { toSeq: '1' } } }, '$.actions.rewind.toSeq'],
  ['a rewind to half an event', { actions: { rewind: { toSeq: 0.5 } } }, '$.actions.rewind.toSeq'],
  ['a rewind to before the beginning', { actions: { rewind: { toSeq: -1 } } }, '$.actions.rewind.toSeq'],
  ['a rewind to what is not there', { actions: { rewind: { toSeq: 9 } } }, '$.actions.rewind.toSeq'],
  [
    'a summary that is a rewind',
    { actions: { compaction: { fromSeq: 1, toSeq: 1 }, rewind: { toSeq: 1 } } },
    '$.actions',
  ],
];

/** Events that look wrong and are none, with what is stored of them. */
export const LEGAL_EVENTS: readonly (readonly [name: string, event: EventInput, stored: object])[] = [
  ['an event that says nothing', {}, { actions: { stateDelta: {} } }],
  ['null where something is optional', { content: null, branch: null } as never, { content: null, branch: null }],
  ['a timestamp of 0', { timestamp: 0 }, { timestamp: 0 }],
  ['a timestamp of minus zero', { timestamp: -0 }, { timestamp: 0 }],
  ['the last timestamp of all', { timestamp: 8.64e15 }, { timestamp: 8.64e15 }],
  ['a seq of its own', { seq: 77 } as object, { seq: 2 }],
  ['no parts', { content: { parts: [] } }, { content: { parts: [] } }],
  ['an empty part', { content: { parts: [{}] } }, { content: { parts: [{}] } }],
  ['an empty invocation id', { invocationId: '' }, { invocationId: '' }],
  ['negative tokens', { usageMetadata: { totalTokenCount: -5 } }, { usageMetadata: { totalTokenCount: -5 } }],
  [
    'a removal twice',
    { actions: { stateRemovals: ['k', 'k'] } },
    { actions: { stateDelta: {}, stateRemovals: ['k'] } },
  ],
  ['an author named like a prototype', { author: '__proto__' }, { author: '__proto__' }],
  ['a field named __proto__', JSON.parse('{"__proto__":{"polluted":true}}') as EventInput, {}],
];
