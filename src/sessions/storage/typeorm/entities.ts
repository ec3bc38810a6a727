import { EntitySchema, type EntitySchemaColumnOptions, type EntitySchemaOptions } from 'typeorm';
import { UNCOUNTED } from '../../domain/state-size.js';
import { type SupportedType, dialectOf } from './sql/dialect.js';
import { SESSIONS_KEY } from './tables.js';

/**
 * TypeORM compares columns and defaults differently for each server, so that it would generate the same changes again and again: for
 * nullable columns of MariaDB with the type `mysql`, for example.
 */
function entity(options: EntitySchemaOptions<unknown>): EntitySchema {
  return new EntitySchema({ ...options, synchronize: false });
}

/**
 * The tables of the session store as entities, so that the DataSource of an app knows them. Only `SESSION_MIGRATIONS` change them:
 * generated migrations and `synchronize` leave them alone. The store itself does not need the entities.
 *
 * @example
 * new DataSource({
 *   type: 'postgres',
 *   entities: [User, ...sessionEntities('postgres')],
 *   migrations: [...SESSION_MIGRATIONS, 'dist/migrations/*.js'],
 * });
 *
 * @param type of the DataSource
 * @param entityPrefix of the DataSource, if it has one
 */
export function sessionEntities(type: SupportedType, entityPrefix = ''): EntitySchema[] {
  const { columnTypes: types, hasPartialIndexes } = dialectOf(type);
  const key: EntitySchemaColumnOptions = { type: types.key as 'bigint' };
  const generatedKey: EntitySchemaColumnOptions = { ...key, primary: true, generated: 'increment' };
  const count: EntitySchemaColumnOptions = { type: types.count as 'int' };
  const number: EntitySchemaColumnOptions = { type: types.number as 'bigint' };
  const text: EntitySchemaColumnOptions = { type: types.text as 'text', ...types.textCollation };
  const exact = (bytes: number): EntitySchemaColumnOptions => {
    const { type: name, length } = types.exact(bytes);
    return { type: name as 'text', ...(length && { length }), ...types.exactCollation };
  };
  const named = (name: string): { name: string } => ({ name: `${entityPrefix}${name}` });
  // As relations, since TypeORM knows `foreignKeys` from 0.3.23 on only.
  const belongsTo = (target: string, name: string, owner: string): EntitySchemaOptions<unknown>['relations'] => ({
    owner: {
      type: 'many-to-one',
      target,
      nullable: false,
      onDelete: 'CASCADE',
      joinColumn: { name: owner, referencedColumnName: 'pk', foreignKeyConstraintName: named(name).name },
    },
  });
  const id = exact(191);
  const stateKey: EntitySchemaColumnOptions = { ...exact(512), primary: true };
  const componentName: EntitySchemaColumnOptions = { ...exact(255), primary: true };
  const usageCounts = {
    events: number,
    prompt_tokens: number,
    cached_tokens: number,
    output_tokens: number,
    thinking_tokens: number,
    tool_use_tokens: number,
    total_tokens: number,
  };

  return [
    entity({
      name: 'agent_sessions',
      columns: {
        pk: generatedKey,
        app_name: id,
        user_id: id,
        session_id: id,
        create_time: number,
        last_update_time: number,
        expires_at: number,
        first_seq: count,
        last_seq: count,
        tip_seq: count,
        high_water: number,
        turns: count,
        events: count,
        content_length: number,
        tokens: number,
        hidden: text,
        view_from_seq: count,
        summary_seq: count,
        marks_seq: count,
        covered: text,
        base_state: text,
        turns_only: { ...count, default: 0 },
        turn_number: { ...count, default: 0 },
        turn_token: { ...id, default: '' },
        turn_holder: { ...id, default: '' },
        turn_request: { ...id, default: '' },
        turn_expires_at: { ...number, default: 0 },
        metadata: { ...text, nullable: true },
        dispatched_seq: { ...count, default: 0 },
        waiting_since: { ...number, default: 0 },
        state_bytes: { ...number, default: UNCOUNTED },
      },
      indices: [
        { ...named(SESSIONS_KEY), columns: ['app_name', 'user_id', 'session_id'], unique: true },
        { ...named('agent_sessions_by_update'), columns: ['app_name', 'user_id', 'last_update_time', 'session_id'] },
        { ...named('agent_sessions_by_creation'), columns: ['app_name', 'user_id', 'create_time', 'session_id'] },
        {
          ...named('agent_sessions_of_app_by_update'),
          columns: ['app_name', 'last_update_time', 'user_id', 'session_id'],
        },
        {
          ...named('agent_sessions_of_app_by_creation'),
          columns: ['app_name', 'create_time', 'user_id', 'session_id'],
        },
        { ...named('agent_sessions_by_expiry'), columns: ['expires_at'] },
        {
          ...named('agent_sessions_waiting'),
          columns: ['waiting_since'],
          ...(hasPartialIndexes && { where: '"waiting_since" > 0' }),
        },
      ],
    }),
    entity({
      name: 'agent_session_events',
      columns: {
        session_pk: { ...key, primary: true },
        seq: { ...count, primary: true },
        event_id: id,
        digest: exact(255),
        appended_at: number,
        high_water: number,
        anchor: count,
        payload: { ...text, nullable: true },
        event_group: { ...exact(64), nullable: true },
      },
      indices: [
        { ...named('agent_session_events_by_id'), columns: ['session_pk', 'event_id'], unique: true },
        { ...named('agent_session_events_by_time'), columns: ['session_pk', 'high_water', 'seq'] },
        { ...named('agent_session_events_by_group'), columns: ['session_pk', 'event_group', 'seq'] },
        hasPartialIndexes
          ? { ...named('agent_session_events_anchors'), columns: ['session_pk', 'seq'], where: '"anchor" = 1' }
          : { ...named('agent_session_events_anchors'), columns: ['session_pk', 'anchor', 'seq'] },
      ],
      relations: belongsTo('agent_sessions', 'agent_session_events_session', 'session_pk'),
    }),
    entity({
      name: 'agent_session_checkpoints',
      columns: { session_pk: { ...key, primary: true }, seq: { ...count, primary: true }, content: text },
      relations: belongsTo('agent_sessions', 'agent_session_checkpoints_session', 'session_pk'),
    }),
    entity({
      name: 'agent_session_partials',
      columns: {
        session_pk: { ...key, primary: true },
        number: { ...number, primary: true },
        after_seq: count,
        message_id: id,
        expires_at: number,
        content: text,
      },
      indices: [{ ...named('agent_session_partials_by_expiry'), columns: ['expires_at'] }],
      relations: belongsTo('agent_sessions', 'agent_session_partials_session', 'session_pk'),
    }),
    entity({
      name: 'agent_session_state',
      columns: { session_pk: { ...key, primary: true }, name: stateKey, value: text },
      relations: belongsTo('agent_sessions', 'agent_session_state_session', 'session_pk'),
    }),
    entity({
      name: 'agent_session_index',
      columns: {
        session_pk: { ...key, primary: true },
        entry: { ...exact(600), primary: true },
        app_name: id,
        user_id: id,
        session_id: id,
        create_time: number,
      },
      indices: [
        {
          ...named('agent_session_index_of_user'),
          columns: ['app_name', 'user_id', 'entry', 'create_time', 'session_id'],
        },
        {
          ...named('agent_session_index_of_app'),
          columns: ['app_name', 'entry', 'create_time', 'user_id', 'session_id'],
        },
      ],
      relations: belongsTo('agent_sessions', 'agent_session_index_session', 'session_pk'),
    }),
    entity({
      name: 'agent_shared_scopes',
      columns: {
        pk: generatedKey,
        app_name: id,
        user_id: id,
        expires_at: number,
        state_bytes: { ...number, default: UNCOUNTED },
      },
      indices: [
        { ...named('agent_shared_scopes_key'), columns: ['app_name', 'user_id'], unique: true },
        { ...named('agent_shared_scopes_by_expiry'), columns: ['expires_at'] },
      ],
    }),
    entity({
      name: 'agent_shared_state',
      columns: { scope_pk: { ...key, primary: true }, name: stateKey, value: text },
      relations: belongsTo('agent_shared_scopes', 'agent_shared_state_scope', 'scope_pk'),
    }),
    entity({
      name: 'agent_session_usage',
      columns: { session_pk: { ...key, primary: true }, model: { ...id, primary: true }, ...usageCounts },
      relations: belongsTo('agent_sessions', 'agent_session_usage_session', 'session_pk'),
    }),
    entity({
      name: 'agent_shared_usage',
      columns: {
        app_name: { ...id, primary: true },
        user_id: { ...id, primary: true },
        period: { ...exact(10), primary: true },
        shard: { ...count, primary: true },
        model: { ...id, primary: true },
        ...usageCounts,
        expires_at: number,
      },
      indices: [{ ...named('agent_shared_usage_by_expiry'), columns: ['expires_at'] }],
    }),
    entity({
      name: 'agent_leases',
      columns: { token: generatedKey, name: exact(400), holder: id, expires_at: number },
      indices: [
        { ...named('agent_leases_name'), columns: ['name'], unique: true },
        { ...named('agent_leases_by_expiry'), columns: ['expires_at'] },
      ],
    }),
    entity({
      name: 'agent_agenda',
      columns: { name: { ...exact(800), primary: true }, due_time: number },
      indices: [{ ...named('agent_agenda_by_due_time'), columns: ['due_time', 'name'] }],
    }),
    entity({
      name: 'agent_consumers',
      columns: { name: { ...id, primary: true }, registered_at: number, settings: text },
    }),
    entity({
      name: 'agent_consumer_work',
      columns: {
        session_pk: { ...key, primary: true },
        consumer: { ...id, primary: true },
        letter_seq: { ...count, primary: true },
        seq: count,
        up_to: count,
        tries: count,
        since_time: number,
        due_time: number,
        claim: id,
        problem: text,
      },
      indices: [{ ...named('agent_consumer_work_by_due_time'), columns: ['consumer', 'due_time'] }],
      relations: belongsTo('agent_sessions', 'agent_consumer_work_session', 'session_pk'),
    }),
    entity({
      name: 'agent_component_sessions',
      columns: { pk: generatedKey, name: exact(1_024), expires_at: number },
      indices: [
        { ...named('agent_component_sessions_name'), columns: ['name'], unique: true },
        { ...named('agent_components_by_expiry'), columns: ['expires_at'] },
      ],
    }),
    entity({
      name: 'agent_components',
      columns: {
        session_pk: { ...key, primary: true },
        name: componentName,
        kind: { ...count, primary: true },
        version: number,
        items: count,
        digest: exact(64),
        content: { ...text, nullable: true },
      },
      relations: belongsTo('agent_component_sessions', 'agent_components_session', 'session_pk'),
    }),
    entity({
      name: 'agent_component_items',
      columns: {
        session_pk: { ...key, primary: true },
        name: componentName,
        seq: { ...count, primary: true },
        content: text,
      },
      relations: belongsTo('agent_component_sessions', 'agent_component_items_session', 'session_pk'),
    }),
  ];
}
