import { type Event, ToolConfirmation, createEvent } from '@google/adk';

/** Random numbers from 0 up to 1. */
export type Random = () => number;

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

export const STATE_KEYS: readonly string[] = [
  'step',
  'cart',
  '__proto__',
  'user:theme',
  'user:cart',
  'app:currency',
  'temp:draft',
];
const VALUES: readonly unknown[] = [
  null,
  0,
  1.5,
  '',
  'text',
  '日本',
  true,
  [],
  [1, [2]],
  {},
  { deep: { list: [null] } },
];

export function randomState(random: Random, keys: readonly string[]): Record<string, unknown> {
  const entries = keys.flatMap((key) => (random() < 0.4 ? [[key, pick(random, VALUES)] as const] : []));
  return Object.fromEntries(entries);
}

/** Fields that ADK stores, each in some of the events. */
const FIELDS: Readonly<Partial<Record<keyof Event, unknown>>> = {
  branch: 'team.support',
  longRunningToolIds: ['c9'],
  errorCode: 'SAFETY',
  errorMessage: 'No.',
  turnComplete: true,
  interrupted: true,
  finishReason: 'STOP',
  modelVersion: 'scripted-1',
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
  groundingMetadata: { webSearchQueries: ['weather'], groundingChunks: [{ web: { uri: 'https://example.com' } }] },
  citationMetadata: { citations: [{ startIndex: 1, uri: 'https://example.com' }] },
  customMetadata: { 'any Key': { a_b: [1], cD: null } },
  inputTranscription: { text: 'hello', finished: true },
};

/** What only agents may say about themselves. */
const AGENT_FIELDS: Readonly<Partial<Record<keyof Event, unknown>>> = {
  output: { result: [1] },
  route: ['left', 2],
  nodeInfo: { path: 'flow.node', outputFor: ['flow.node'] },
  isolationScope: 'scope-1',
};

const AGENT_ACTIONS = (): Readonly<Record<string, unknown>> => ({
  artifactDelta: { 'report.pdf': 2 },
  transferToAgent: 'billing',
  escalate: true,
  skipSummarization: true,
  requestedToolConfirmations: { c9: new ToolConfirmation({ hint: 'Sure?', confirmed: false, payload: { n: 1 } }) },
  agentState: { input: { any_Key: 1 } },
  endOfAgent: true,
});

function some(random: Random, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(() => random() < 0.25));
}

/** An event with whatever ADK knows. The same random numbers make the same event, which shares nothing with the first. */
export function randomEvent(random: Random, id: string, timestamp: number, keys: readonly string[]): Event {
  const author = pick(random, ['user', 'support', 'billing']);
  const isAgent = author !== 'user';
  const text = { text: pick(random, ['Hello', '', 'a\u0000b', '🙂 "quoted"']) };
  const call = { functionCall: { id: `call-${id}`, name: 'find', args: { order_Id: 7, nested: { a: [null] } } } };
  const answer = { functionResponse: { id: `call-${id}`, name: 'find', response: { some_Result: [1] } } };
  const file = { inlineData: { mimeType: 'image/png', data: 'AA==' } };
  const parts = pick(random, [[text], [text, file], isAgent ? [call, answer] : [text], []]);
  const isPartial = random() < 0.1;
  const fields = structuredClone({ ...some(random, FIELDS), ...(isAgent ? some(random, AGENT_FIELDS) : {}) });
  const event = createEvent({
    ...fields,
    id,
    timestamp,
    author,
    invocationId: `run-${Math.floor(random() * 3)}`,
    ...(random() < 0.9 && { content: { role: isAgent ? 'model' : 'user', parts } }),
    ...(isPartial && { partial: true }),
    actions: {
      ...(isAgent ? some(random, AGENT_ACTIONS()) : {}),
      stateDelta: structuredClone(randomState(random, keys)),
    },
  });
  return event;
}
