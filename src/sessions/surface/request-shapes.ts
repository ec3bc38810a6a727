import type { RequestDifference } from '../domain/event/request-difference.js';
import type { ModelRequestReport, RequestText } from '../domain/event/request-report.js';
import { type Field, flag, integer, json, number, one, optional, shape, text } from './shape.js';

const SEQ = { type: 'integer', minimum: 1 } as const;
const FROM_ONE = { minimum: 1 } as const;

/** Pairs: the first and the last of some events. */
export const RANGES = {
  type: 'array',
  items: { type: 'array', items: SEQ, minItems: 2, maxItems: 2 },
} as const;

export const ranges = (description: string): Field =>
  json(`${description} As pairs: the first and the last event.`, RANGES);

const CHANGE_EXAMPLE: RequestDifference = {
  seq: 4,
  stableUntilSeq: 3,
  added: [[4, 5]],
  removed: [],
  isPromptSame: true,
  areToolsSame: true,
};

const EXAMPLE: ModelRequestReport = {
  seq: 6,
  id: 'e-6',
  author: 'agent',
  timestamp: 1_767_225_600_000,
  model: 'gemini-2.5-flash',
  usage: { promptTokenCount: 812, cachedContentTokenCount: 512, candidatesTokenCount: 40 },
  given: [[1, 5]],
  isExact: true,
  durationMs: 830,
  instructions: { hash: '3qcyJAOTxVzW1hJ4VRMUC9Pq5tJqkGvoZUyzTYqfhQM', isKept: true },
  change: CHANGE_EXAMPLE,
};

const REQUEST_TEXT = shape<RequestText>('RequestText', {
  description: 'The instructions, or the tools, of a request.',
  example: EXAMPLE.instructions,
  fields: {
    hash: text('Equal texts have equal hashes.'),
    isKept: flag('Whether the store has it.'),
    value: optional(
      json('As it was given; missing if it is not kept, or if the access rule does not allow prompts.', {}),
    ),
  },
});

const REQUEST_CHANGE = shape<RequestDifference>('RequestChange', {
  description: 'What a model was given otherwise than for another request.',
  example: CHANGE_EXAMPLE,
  fields: {
    seq: integer('The answer to the other request.', FROM_ONE),
    stableUntilSeq: integer('With which event the beginning ends that both have in common; 0 for none.'),
    added: ranges('The events that the other one was not given.'),
    removed: ranges('The events that only the other one was given.'),
    isPromptSame: flag(),
    areToolsSame: flag(),
  },
});

export const MODEL_REQUEST = shape<ModelRequestReport>('ModelRequest', {
  description: 'What a model was given for an answer.',
  example: EXAMPLE,
  fields: {
    seq: integer('The event that is the answer.', FROM_ONE),
    id: text(),
    author: optional(text()),
    branch: optional(text()),
    timestamp: number(),
    model: optional(text()),
    usage: optional(json('The tokens of the answer.')),
    given: ranges('The events that the model was given, in the order in which it got them.'),
    isExact: flag('Whether it was given these events and no others.'),
    durationMs: optional(number('How long the model took.')),
    instructions: optional(one(REQUEST_TEXT)),
    tools: optional(one(REQUEST_TEXT)),
    change: optional(
      one(REQUEST_CHANGE, 'What changed since the request before; missing if none of the 200 events before is one.'),
    ),
  },
});
