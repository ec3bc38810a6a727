const EVENT_CONTENT = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };

/** One conversation of one customer, as all examples show it. */
export const EXAMPLES = {
  newSession: { sessionId: 'order-7', state: { step: 1, 'user:language': 'en' } },
  newSessionWithId: { state: { step: 1 } },
  eventInput: { id: 'e-1', ...EVENT_CONTENT, actions: { stateDelta: { step: 2 } } },
  event: {
    id: 'e-1',
    invocationId: '',
    ...EVENT_CONTENT,
    timestamp: 1_767_225_600_000,
    actions: { stateDelta: { step: 2 } },
    seq: 1,
  },
  stateChange: { stateDelta: { step: 3, 'user:language': 'de' }, stateRemovals: ['draft'] },
  sharedStateChange: { stateDelta: { language: 'de' }, stateRemovals: ['draft'] },
  state: { step: 2, 'user:language': 'en', 'app:currency': 'EUR' },
  sharedState: { language: 'de' },
  rewind: { toSeq: 1 },
  fork: { atSeq: 1, newSessionId: 'order-7b' },
} as const;

export const SESSION_EXAMPLE = {
  id: 'order-7',
  appName: 'shop',
  userId: 'ann',
  saveKey: 'shop/ann',
  createTime: 1_767_225_599_000,
  state: EXAMPLES.state,
  events: [EXAMPLES.event],
  lastUpdateTime: 1_767_225_600_000,
  version: 1,
  conversationCount: 1,
} as const;

export const SESSION_PAGE_EXAMPLE = { sessions: [{ ...SESSION_EXAMPLE, events: [] }], limit: 100 } as const;
export const EVENT_PAGE_EXAMPLE = { events: [EXAMPLES.event], firstSeq: 1, lastSeq: 1 } as const;
export const STREAM_EXAMPLE = `id: 1\ndata: ${JSON.stringify(EXAMPLES.event)}\n\n`;
