import { Field, ObjectType } from '@nestjs/graphql';
import type { LoggedEvent } from '../../domain/event.js';
import { type Session, type SessionView, viewOf } from '../../domain/session.js';
import type { GetSessionConfig } from '../../domain/view-item.js';
import { JSON_SCALAR, SAFE_INT_SCALAR } from './scalars.js';

@ObjectType('PageInfo')
export class PageInfoObject {
  @Field(() => Boolean)
  hasNextPage!: boolean;

  @Field(() => String, { nullable: true, description: 'Pass it as `after`. Null on the last page.' })
  endCursor?: string | undefined;
}

/** Page info from the cursor of the service. */
export function pageInfoOf(nextCursor: string | undefined): PageInfoObject {
  return { hasNextPage: nextCursor !== undefined, endCursor: nextCursor };
}

/** A session in a list, without events. */
@ObjectType('ListedSession', { description: 'A session in a list, without its events.' })
export class ListedSessionObject {
  @Field(() => String)
  id!: string;

  @Field(() => String)
  appName!: string;

  @Field(() => String)
  userId!: string;

  @Field(() => String, { description: 'The key for ADK-style save files of this user.' })
  saveKey!: string;

  @Field(() => JSON_SCALAR, { description: 'State of all scopes. Keys have their prefixes.' })
  state!: unknown;

  @Field(() => JSON_SCALAR, {
    description: 'title, status, tags, labels and fields; actions.metadataDelta changes them.',
  })
  metadata!: unknown;

  @Field(() => SAFE_INT_SCALAR, { description: 'Epoch milliseconds.' })
  createTime!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'Epoch milliseconds.' })
  lastUpdateTime!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'The number of the last event.' })
  version!: number;

  @Field(() => SAFE_INT_SCALAR, { description: 'The number of user messages that are not rewound.' })
  conversationCount!: number;

  @Field(() => Boolean, { nullable: true, description: 'True if writes need a turn.' })
  turnsOnly?: boolean | undefined;
}

/** `events` has arguments: see SessionsResolver. */
@ObjectType('Session')
export class SessionObject extends ListedSessionObject {
  @Field(() => Boolean, {
    nullable: true,
    description: 'True if older events of the view were omitted because the view is too large.',
  })
  eventsTruncated?: boolean | undefined;
}

@ObjectType('SessionConnection', { description: 'A page of sessions.' })
export class SessionConnectionObject {
  @Field(() => [ListedSessionObject])
  nodes!: ListedSessionObject[];

  @Field(() => PageInfoObject)
  pageInfo!: PageInfoObject;
}

/** An event of the log. */
@ObjectType('Event', { description: 'An event in the log of a session.' })
export class EventObject {
  @Field(() => String)
  id!: string;

  @Field(() => SAFE_INT_SCALAR, { description: 'The place in the log, counted from 1.' })
  seq!: number;

  @Field(() => String)
  invocationId!: string;

  @Field(() => String, { nullable: true })
  author?: string | undefined;

  @Field(() => String, { nullable: true })
  branch?: string | undefined;

  @Field(() => SAFE_INT_SCALAR, { description: 'Epoch milliseconds.' })
  timestamp!: number;

  @Field(() => JSON_SCALAR, { nullable: true, description: 'Role and parts of the message.' })
  content?: unknown;

  @Field(() => JSON_SCALAR, { description: 'Effects of the event, such as changes of state.' })
  actions!: unknown;

  @Field(() => JSON_SCALAR, { description: 'The whole stored event, with all its fields.' })
  body!: unknown;
}

/** An event of a subscription. */
@ObjectType('WatchedEvent', { description: 'An event that was appended.' })
export class WatchedEventObject extends EventObject {
  @Field(() => JSON_SCALAR, {
    nullable: true,
    description: 'With stateDeltas: what the event changes in the state, as JSON Patch (RFC 6902).',
  })
  statePatch?: unknown;

  @Field(() => Boolean, {
    description: 'Whether it is a piece of what a running agent says. The stored event of its id replaces the pieces.',
  })
  partial!: boolean;

  @Field(() => String, { nullable: true, description: 'With partials: where to go on after this event.' })
  position?: string | undefined;

  @Field(() => SAFE_INT_SCALAR, {
    nullable: true,
    description: 'Of a piece: how many characters of its message come before. 0 begins the message anew.',
  })
  offset?: number | undefined;
}

@ObjectType('EventConnection', { description: 'A page of the log.' })
export class EventConnectionObject {
  @Field(() => [EventObject])
  nodes!: EventObject[];

  @Field(() => PageInfoObject)
  pageInfo!: PageInfoObject;

  @Field(() => SAFE_INT_SCALAR, { description: 'The first event that is kept. Older events were trimmed.' })
  firstSeq!: number;

  @Field(() => SAFE_INT_SCALAR)
  lastSeq!: number;
}

@ObjectType('AppendResult')
export class AppendResultObject {
  @Field(() => EventObject, {
    nullable: true,
    description: 'The stored event. Null for a partial event, which is not stored.',
  })
  event?: EventObject | undefined;

  @Field(() => Boolean, { description: 'Whether the event was already stored.' })
  duplicate!: boolean;
}

@ObjectType('AppendBatchResult')
export class AppendBatchResultObject {
  @Field(() => [EventObject], {
    nullable: 'items',
    description: 'The stored events, in the order of the request. Null for a partial event, which is not stored.',
  })
  events!: (EventObject | null)[];

  @Field(() => Boolean, { description: 'Whether the events were already stored.' })
  duplicate!: boolean;
}

/** An event in the schema. */
export type EventNode = EventObject;

/** Picks known fields: an event may have any others, and `body` has all of them. */
export function eventNode(event: LoggedEvent): EventNode {
  const { id, seq, invocationId, author, branch, timestamp, content, actions } = event;
  return { id, seq, invocationId, author, branch, timestamp, content, actions, body: event };
}

/** A session in the schema, and how its view was narrowed. */
export interface SessionNode extends SessionView {
  readonly narrowing: GetSessionConfig;
}

export function sessionNode(session: Session, narrowing: GetSessionConfig = {}): SessionNode {
  return { ...viewOf(session), narrowing };
}

export function isSameNarrowing(one: GetSessionConfig, other: GetSessionConfig): boolean {
  const names = ['numRecentEvents', 'afterTimestamp', 'afterSeq'] as const;
  return names.every((name) => one[name] === other[name]);
}
