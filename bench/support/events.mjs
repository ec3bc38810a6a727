/** Filler of natural length, so that an event has about 1,030 bytes of JSON. */
const WORDS = 'the order left the warehouse on time and the courier confirmed a delivery window for the afternoon ';

/**
 * Makes events as they arrive from outside: parsed from JSON, so that no string is a rope and no object
 * has a shape of its own.
 *
 * @param {number} count
 * @param {number} [from] number of the first one; ids come from it
 * @returns {import('../../dist/index.js').EventInput[]}
 */
export function makeEvents(count, from = 0) {
  return Array.from({ length: count }, (_, index) => JSON.parse(JSON.stringify(eventOf(from + index))));
}

/** @param {number} number */
function eventOf(number) {
  const isUser = number % 2 === 0;
  const text = `${number}: ${WORDS.repeat(8)}`.slice(0, 650);
  return {
    id: `event-${String(number).padStart(12, '0')}`,
    invocationId: `invocation-${number >> 1}`,
    author: isUser ? 'user' : 'support_agent',
    timestamp: 1_763_700_000_000 + number,
    content: { role: isUser ? 'user' : 'model', parts: [{ text }] },
    actions: { stateDelta: { step: number }, artifactDelta: {} },
    usageMetadata: { promptTokenCount: 310, candidatesTokenCount: 120, totalTokenCount: 430 },
    customMetadata: { model: 'gemini-2.5-pro', region: 'europe-west4', trace: `trace-${number}` },
  };
}

let agentEvents = 0;

/**
 * Events of about 1,030 bytes with two keys of the session, and a key of the user in every tenth. No two have the same id.
 *
 * @param {number} count
 * @returns {import('../../dist/index.js').EventInput[]}
 */
export function makeAgentEvents(count) {
  const events = makeEvents(count, agentEvents);
  for (const event of events) {
    const { stateDelta } = event.actions;
    stateDelta.stage = 'delivery';
    if (agentEvents++ % 10 === 0) stateDelta['user:last'] = event.id;
  }
  return events;
}
