import { exact, generatedKey, id, index, key, number, table, text, unique } from './table.js';

/** The shared state of a user, or of an app (empty `user_id`). */
export const SHARED_SCOPES = table({
  name: 'agent_shared_scopes',
  columns: { pk: generatedKey, app_name: id, user_id: id, expires_at: number, state_bytes: number },
  primaryKey: ['pk'],
  indexes: {
    agent_shared_scopes_key: unique(['app_name', 'user_id']),
    agent_shared_scopes_by_expiry: index(['expires_at']),
  },
});

/** A key of shared state. */
export const SHARED_STATE = table({
  name: 'agent_shared_state',
  columns: { scope_pk: key, name: exact(512), value: text },
  primaryKey: ['scope_pk', 'name'],
  parent: 'agent_shared_scopes',
});
