import type { SchemaInput, StandardSchema } from '../state/standard-schema.js';
import type { StateDefinition, StateSchemas, StateValues, TypedState } from '../state/define-state.js';
import type { EventActionsInput, EventInput, LoggedEvent } from './domain/event/event.js';
import type { UserKey } from './domain/values/ids.js';
import type { Session } from './domain/session/session.js';
import type * as operations from './operations/index.js';
import type { SessionService } from './session.service.js';

type Replaced<Type, Changes> = Omit<Type, keyof Changes> & Changes;

type SchemasOf<Definition> = Definition extends StateDefinition<infer Schemas> ? Schemas : never;
type TempKey = `temp:${string}`;
type StateKey<Schemas> = (keyof Schemas & string) | TempKey;

/** What an event may set. Keys with `temp:` need no definition. */
type TypedDelta<Schemas extends StateSchemas> = StateValues<Schemas> & { readonly [Key in TempKey]?: unknown };

type TypedActions<Schemas extends StateSchemas> = Replaced<
  EventActionsInput,
  { stateDelta?: TypedDelta<Schemas>; stateRemovals?: StateKey<Schemas>[] }
>;

type TypedEvent<Schemas extends StateSchemas> = Replaced<EventInput, { actions?: TypedActions<Schemas> }>;

/** The keys of a shared scope, without its prefix. */
type SharedValues<Schemas extends StateSchemas, Prefix extends 'user:' | 'app:'> = {
  [Key in keyof Schemas as Key extends `${Prefix}${infer Name}` ? Name : never]?: Schemas[Key] extends StandardSchema
    ? SchemaInput<Schemas[Key]>
    : never;
};

interface SharedChanges<Values> {
  readonly stateDelta?: Values | undefined;
  readonly stateRemovals?: readonly (keyof Values)[] | undefined;
}

/** A session whose state has types. */
export type TypedSession<Definition extends StateDefinition> = Omit<Session, 'state'> & {
  readonly state: TypedState<SchemasOf<Definition>>;
};

type Appended<Request, Schemas extends StateSchemas> = Request extends { readonly events: unknown }
  ? Replaced<Request, { readonly events: readonly TypedEvent<Schemas>[] }>
  : Replaced<Request, { readonly event: TypedEvent<Schemas> }>;

type Decided<Schemas extends StateSchemas> = readonly TypedEvent<Schemas>[] | void;

type KeysOfEach<Type> = Type extends unknown ? keyof Type : never;

/** The keys that an event sets, and the definition has not. */
type OtherKeys<One, Schemas extends StateSchemas> = One extends {
  readonly actions?: { readonly stateDelta?: infer Delta } | undefined;
}
  ? Exclude<KeysOfEach<NonNullable<Delta>>, StateKey<Schemas>>
  : never;

/** The compiler looks for unknown keys in what a call is given, but not in what a callback returns. So this refuses them. */
type WithoutOtherKeys<Result, Schemas extends StateSchemas> = Result extends readonly (infer One)[]
  ? [OtherKeys<One, Schemas>] extends [never]
    ? Result
    : readonly { readonly actions: { readonly stateDelta: Record<OtherKeys<One, Schemas>, never> } }[]
  : Result;

/** The operations that read or write state. */
interface TypedOperations<Definition extends StateDefinition, Schemas extends StateSchemas = SchemasOf<Definition>> {
  createSession(
    request: Replaced<operations.CreateSessionRequest, { readonly state?: TypedDelta<Schemas> | undefined }>,
  ): Promise<TypedSession<Definition>>;
  getOrCreateSession(
    request: Replaced<operations.CreateSessionRequest, { readonly state?: TypedDelta<Schemas> | undefined }>,
  ): Promise<TypedSession<Definition>>;
  getSession(request: operations.GetSessionRequest): Promise<TypedSession<Definition> | undefined>;
  listSessions(
    request: operations.ListSessionsRequest,
  ): Promise<Replaced<operations.SessionPage, { readonly sessions: TypedSession<Definition>[] }>>;
  appendEvent(request: Appended<operations.AppendEventRequest, Schemas>): Promise<LoggedEvent>;
  append(request: Appended<operations.AppendEventRequest, Schemas>): Promise<operations.AppendResult>;
  appendEvents(request: Appended<operations.AppendEventsRequest, Schemas>): Promise<LoggedEvent[]>;
  appendBatch(request: Appended<operations.AppendEventsRequest, Schemas>): Promise<operations.AppendEventsResult>;
  updateSession(
    session: TypedSession<Definition>,
    options?: operations.UpdateSessionOptions,
  ): Promise<LoggedEvent | undefined>;
  change<Result extends Decided<Schemas>>(
    request: operations.ChangeSessionRequest,
    decide: (
      session: TypedSession<Definition>,
    ) => (Result & WithoutOtherKeys<Result, Schemas>) | Promise<Result & WithoutOtherKeys<Result, Schemas>>,
  ): Promise<Replaced<operations.ChangedSession, { readonly session: TypedSession<Definition> }>>;
  rewindSession(request: operations.RewindSessionRequest): Promise<TypedSession<Definition>>;
  forkSession(request: operations.ForkSessionRequest): Promise<TypedSession<Definition>>;
  stateAt(
    request: operations.StateAtRequest,
  ): Promise<Replaced<operations.StateAtMoment, { readonly state: StateValues<Schemas> }>>;
  getUserState(request: UserKey): Promise<SharedValues<Schemas, 'user:'>>;
  updateUserState(
    request: UserKey & SharedChanges<SharedValues<Schemas, 'user:'>>,
  ): Promise<SharedValues<Schemas, 'user:'>>;
  getAppState(request: { readonly appName: string }): Promise<SharedValues<Schemas, 'app:'>>;
  updateAppState(
    request: { readonly appName: string } & SharedChanges<SharedValues<Schemas, 'app:'>>,
  ): Promise<SharedValues<Schemas, 'app:'>>;
}

/**
 * A `SessionService` whose calls know the keys of a state and the types of their values.
 *
 * @example constructor(@Inject(SessionService) private readonly sessions: TypedSessions<typeof shopState>) {}
 */
export type TypedSessions<Definition extends StateDefinition> = Omit<
  SessionService,
  keyof TypedOperations<Definition>
> &
  TypedOperations<Definition>;

/**
 * The same service, with the types of a definition. To check values as well, give the definition to the module, or to the
 * service, as option `state`.
 *
 * @example
 * const shop = typedSessions(sessions, shopState);
 * const { state } = await shop.createSession({ appName: 'shop', userId: 'ann', state: { step: 1 } });
 * state.step; // number | undefined
 */
export function typedSessions<Definition extends StateDefinition>(
  sessions: SessionService,
  _definition: Definition,
): TypedSessions<Definition> {
  return sessions as unknown as TypedSessions<Definition>;
}
