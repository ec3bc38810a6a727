import type { ContentInput } from '../../sessions/domain/event/content.js';
import { KEY_FIELDS } from '../../sessions/surface/ids-and-pages.js';
import { EVENT, eventNode } from '../../sessions/surface/event-shapes.js';
import { STATE } from '../../sessions/surface/state-shapes.js';
import {
  type Choice,
  type Fields,
  type Shape,
  choice,
  flag,
  integer,
  json,
  listOf,
  one,
  optional,
  restOnly,
  shape,
  text,
} from '../../sessions/surface/shape.js';
import type { RunEvent } from '../turn/run-events.js';
import type { AskedCall, PendingApproval } from '../invocation/approval-requests.js';
import { RUN_POLICIES, type RunPolicy } from '../turn/run-policy.js';
import type { PendingApprovalPage } from '../invocation/list-pending-approvals.js';
import type { RunResult } from '../ask/run-request.js';
import { MAX_QUIET_MS } from '../ask/run-settings.js';

export const MESSAGE_EXAMPLE = { role: 'user', parts: [{ text: 'Where is my order?' }] };

const USER_CONTENT = {
  type: 'object',
  required: ['parts'],
  properties: {
    role: { type: 'string', enum: ['user'] },
    parts: { type: 'array', minItems: 1, items: { type: 'object', additionalProperties: true } },
  },
  additionalProperties: true,
};

const POLICY: Choice = {
  name: 'RunPolicy',
  description: 'What happens with a message while another turn runs.',
  values: RUN_POLICIES,
};

const STATUS: Choice = {
  name: 'RunStatus',
  description: 'How a run ended. `waiting`: for an approval.',
  values: ['completed', 'stopped', 'interrupted', 'waiting'] satisfies RunResult['status'][],
};

/** What a client says to an agent, with the names of ADK. */
export interface RunMessage {
  readonly newMessage: ContentInput | string;
  readonly streaming?: boolean;
  readonly policy?: RunPolicy;
  readonly quietMs?: number;
  readonly invocationId?: string;
  readonly retry?: boolean;
  readonly stateDelta?: Record<string, unknown>;
}

export const STREAMING = optional(
  flag('Whether a stream also has partial events, which are not stored.', { default: false }),
);

export const RUN: Fields = {
  newMessage: json(
    'What the user says: a text, or a content with at least one part that says something, such as { parts: [{ text: "Hello" }] }.',
    {
      oneOf: [{ type: 'string', pattern: '\\S' }, USER_CONTENT],
      example: MESSAGE_EXAMPLE,
    },
  ),
  streaming: restOnly(STREAMING),
  policy: optional(choice(POLICY, 'What happens while another turn runs. Default: what the agent says.')),
  quietMs: optional({
    ...integer('How many milliseconds `debounce` waits for further messages. Default: what the agent says.', {
      maximum: MAX_QUIET_MS,
    }),
    int32: {},
  }),
  invocationId: optional(
    text(
      'Makes retries safe: a repeated request returns the events of the first one. Generated if it is left out. At most 150 bytes.',
      {
        minLength: 1,
        maxLength: 150,
      },
    ),
  ),
  retry: optional(
    flag('Lets the agent try again if this `invocationId` failed. The message is not stored again.', {
      default: false,
    }),
  ),
  stateDelta: optional(json('State changes that are stored with the message.', { ...STATE, description: undefined })),
};

export const AGENT_RUN: Shape<RunResult> = {
  name: 'AgentRun',
  description: 'The answer of an agent.',
  node: ({ status, invocationId, events }: RunResult) => ({ status, invocationId, events: events.map(eventNode) }),
  fields: {
    status: choice(STATUS, STATUS.description),
    invocationId: text('The invocation that answered: another one, if it took the message.'),
    events: listOf(EVENT, 'The stored events, without the message.'),
  },
};

/** An event of a run in GraphQL: stored, or partial. */
export const RUN_EVENT: Shape<RunEvent> = {
  name: 'RunEvent',
  description: 'An event of a run: stored, or partial.',
  node: runEventNode,
  fields: {
    id: optional(text('Null if it is partial.')),
    seq: optional(integer('The place in the log; null if it is partial.')),
    partial: flag('Whether it is a part of an event that follows, and not stored.'),
    invocationId: text(),
    author: optional(text()),
    content: optional(json('Role and parts of the message.')),
    offset: optional(
      integer('How many characters of its message come before a partial event; 0 begins the message anew.'),
    ),
    body: json('The whole event, with all its fields.'),
  },
};

export function runEventNode(event: RunEvent): object {
  const known = event as Partial<RunEvent> & { readonly seq?: number; readonly offset?: number };
  const { id, seq, invocationId = '', author, content, offset } = known;
  const isPartial = event.partial === true;
  return {
    ...(!isPartial && { id, seq }),
    partial: isPartial,
    invocationId,
    author,
    content,
    offset,
    body: event,
  };
}

const APPROVAL_EXAMPLE = {
  appName: 'shop',
  userId: 'ann',
  sessionId: 'order-7',
  approvalId: 'c-1@inv-7',
  invocationId: 'inv-7',
  agentName: 'shop',
  tool: 'refund',
  hint: 'Refund order 7?',
  payload: { currency: 'EUR' },
  schema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  call: { id: 'c-1', name: 'refund', args: { order: '7' } },
  expiresAt: 1_790_000_000_000,
  messageSeq: 12,
};

/** Any value. */
export const PAYLOAD = {};

const ASKED_CALL = shape<AskedCall>('AskedCall', {
  description: 'A call that is to be approved.',
  example: APPROVAL_EXAMPLE.call,
  fields: { id: optional(text()), name: text(), args: json() },
});

const PENDING_APPROVAL = shape<PendingApproval>('PendingApproval', {
  description: 'An approval that waits for an answer.',
  example: APPROVAL_EXAMPLE,
  fields: {
    ...KEY_FIELDS,
    approvalId: text('Name it in the path of the answer, encoded.'),
    invocationId: text(),
    agentName: text(),
    tool: optional(text('The tool that asks.')),
    hint: optional(text()),
    payload: optional(json('Details, as the request has them.', PAYLOAD)),
    schema: optional(json('The JSON Schema of the `payload` of an answer that confirms.')),
    call: optional(one(ASKED_CALL, 'The call to approve, if a tool asks.')),
    expiresAt: optional({
      ...integer('When it counts as refused, in epoch milliseconds.'),
      schema: {},
    }),
    messageSeq: integer('The message that began the invocation.', { minimum: 1 }),
  },
});

export const APPROVAL_PAGE = shape<PendingApprovalPage>('PendingApprovalPage', {
  items: 'approvals',
  graphqlName: 'PendingApprovalConnection',
  description: 'A page of approvals. It may be empty and have a next one.',
  example: { approvals: [APPROVAL_EXAMPLE] },
  fields: {
    approvals: listOf(PENDING_APPROVAL),
    nextCursor: optional(text('For the next page, which may exist even if this one is empty.')),
  },
});
