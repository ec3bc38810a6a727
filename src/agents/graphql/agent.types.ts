import { ArgsType, Field, ObjectType, registerEnumType } from '@nestjs/graphql';
import { DEFAULT_LIMIT } from '../../sessions/domain/paging.js';
import type { SessionKey } from '../../sessions/domain/ids.js';
import type { Content } from '../../sessions/domain/content.js';
import { SessionArguments, UserArguments } from '../../sessions/graphql/types/arguments.js';
import { type EventNode, EventObject, PageInfoObject, eventNode } from '../../sessions/graphql/types/object-types.js';
import { JSON_SCALAR, SAFE_INT_SCALAR } from '../../sessions/graphql/types/scalars.js';
import { Int } from '@nestjs/graphql';
import type { RunEvent } from '../agent-run.js';
import type { AskedCall, PendingApproval } from '../approvals.js';
import { RUN_POLICIES, type RunPolicy } from '../control-events.js';
import type { RunResult, RunStatus } from '../run-request.js';

const byName = <Value extends string>(values: readonly Value[]): Record<string, Value> =>
  Object.fromEntries(values.map((value) => [value.toUpperCase(), value]));

const POLICIES = byName(RUN_POLICIES);
registerEnumType(POLICIES, { name: 'RunPolicy', description: 'What happens with a message while another turn runs.' });

const STATUSES = byName<RunStatus>(['completed', 'stopped', 'interrupted', 'waiting']);
registerEnumType(STATUSES, { name: 'RunStatus', description: 'How a run ended. WAITING: for an approval.' });

/** A message for the agent of an app. */
export interface RunFieldRequest extends SessionKey {
  readonly newMessage: Content | string;
  readonly policy?: RunPolicy | undefined;
  readonly quietMs?: number | undefined;
  readonly invocationId?: string | undefined;
  readonly retry?: boolean | undefined;
  readonly stateDelta?: Record<string, unknown> | undefined;
}

@ArgsType()
export class RunAgentArguments extends SessionArguments {
  @Field(() => JSON_SCALAR, {
    description: 'What the user says: a text, or a content such as { role: "user", parts: [{ text: "Hello" }] }.',
  })
  newMessage!: unknown;

  @Field(() => POLICIES, { nullable: true, description: 'What the agent says by default.' })
  policy?: RunPolicy;

  @Field(() => Int, {
    nullable: true,
    description:
      'How many milliseconds DEBOUNCE waits for further messages: up to an hour. What the agent says by default.',
  })
  quietMs?: number;

  @Field(() => String, {
    nullable: true,
    description: 'Makes retries safe: a repeated request returns the events of the first one. At most 150 bytes.',
  })
  invocationId?: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Lets the agent try again if this invocation failed. The message is not stored again.',
  })
  retry?: boolean;

  @Field(() => JSON_SCALAR, { nullable: true, description: 'State changes that are stored with the message.' })
  stateDelta?: unknown;
}

@ArgsType()
export class StreamAgentArguments extends RunAgentArguments {
  @Field(() => Boolean, { nullable: true, description: 'Also partial events, which are not stored.' })
  streaming?: boolean;
}

@ArgsType()
export class StopAgentArguments extends SessionArguments {
  @Field(() => String, { nullable: true, description: 'The run that is going on by default.' })
  invocationId?: string;
}

@ArgsType()
export class AnswerApprovalArguments extends SessionArguments {
  @Field(() => String)
  approvalId!: string;

  @Field(() => Boolean, { description: 'Whether the user approves.' })
  confirmed!: boolean;

  @Field(() => JSON_SCALAR, {
    nullable: true,
    description: 'What the approval asks for, if it asks for more than a yes.',
  })
  payload?: unknown;
}

@ArgsType()
export class PendingApprovalsArguments extends UserArguments {
  @Field(() => Int, { nullable: true, defaultValue: DEFAULT_LIMIT, description: 'Sessions per page, at most 1,000.' })
  first?: number;

  @Field(() => String, { nullable: true })
  after?: string;
}

@ObjectType('AgentRun', { description: 'The answer of an agent.' })
export class AgentRunObject {
  @Field(() => STATUSES)
  status!: RunStatus;

  @Field(() => String, { description: 'The invocation that answered: another one, if it took the message.' })
  invocationId!: string;

  @Field(() => [EventObject], { description: 'The stored events, without the message.' })
  events!: EventNode[];
}

export function runNode({ status, invocationId, events }: RunResult): AgentRunObject {
  return { status, invocationId, events: events.map(eventNode) };
}

@ObjectType('RunEvent', { description: 'An event of a run: stored, or partial.' })
export class RunEventObject {
  @Field(() => String, { nullable: true, description: 'Null if it is partial.' })
  id?: string | undefined;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'The place in the log; null if it is partial.' })
  seq?: number | undefined;

  @Field(() => Boolean, { description: 'Whether it is a part of an event that follows, and not stored.' })
  partial!: boolean;

  @Field(() => String)
  invocationId!: string;

  @Field(() => String, { nullable: true })
  author?: string | undefined;

  @Field(() => JSON_SCALAR, { nullable: true, description: 'Role and parts of the message.' })
  content?: unknown;

  @Field(() => SAFE_INT_SCALAR, {
    nullable: true,
    description: 'How many characters of its message come before a partial event; 0 begins the message anew.',
  })
  offset?: number | undefined;

  @Field(() => JSON_SCALAR, { description: 'The whole event, with all its fields.' })
  body!: unknown;
}

export function runEventNode(event: RunEvent): RunEventObject {
  const {
    id,
    seq,
    invocationId = '',
    author,
    content,
    offset,
  } = event as Partial<RunEvent> & {
    readonly seq?: number;
    readonly offset?: number;
  };
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

@ObjectType('AskedCall', { description: 'A call that is to be approved.' })
export class AskedCallObject implements AskedCall {
  @Field(() => String, { nullable: true })
  readonly id?: string;

  @Field(() => String)
  readonly name!: string;

  @Field(() => JSON_SCALAR)
  readonly args!: Readonly<Record<string, unknown>>;
}

@ObjectType('PendingApproval', { description: 'An approval that waits for an answer.' })
export class PendingApprovalObject implements PendingApproval {
  @Field(() => String)
  readonly appName!: string;

  @Field(() => String)
  readonly userId!: string;

  @Field(() => String)
  readonly sessionId!: string;

  @Field(() => String)
  readonly approvalId!: string;

  @Field(() => String)
  readonly invocationId!: string;

  @Field(() => String)
  readonly agentName!: string;

  @Field(() => String, { nullable: true, description: 'The tool that asks.' })
  readonly tool?: string;

  @Field(() => String, { nullable: true })
  readonly hint?: string;

  @Field(() => JSON_SCALAR, { nullable: true, description: 'Details, as the request has them.' })
  readonly payload?: unknown;

  @Field(() => JSON_SCALAR, {
    nullable: true,
    description: 'The JSON Schema of the payload of an answer that confirms.',
  })
  readonly schema?: Readonly<Record<string, unknown>>;

  @Field(() => AskedCallObject, { nullable: true, description: 'The call to approve, if a tool asks.' })
  readonly call?: AskedCall;

  @Field(() => SAFE_INT_SCALAR, { nullable: true, description: 'When it counts as refused, in epoch milliseconds.' })
  readonly expiresAt?: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'The message that began the invocation.' })
  readonly messageSeq!: number;
}

@ObjectType('PendingApprovalConnection', { description: 'A page of approvals. It may be empty and have a next one.' })
export class PendingApprovalConnectionObject {
  @Field(() => [PendingApprovalObject])
  nodes!: readonly PendingApproval[];

  @Field(() => PageInfoObject)
  pageInfo!: PageInfoObject;
}
