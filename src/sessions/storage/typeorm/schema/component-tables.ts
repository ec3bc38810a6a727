import { count, exact, generatedKey, index, key, number, table, text, textOrNull, unique } from './table.js';

/** A session of components. */
export const COMPONENT_SESSIONS = table({
  name: 'agent_component_sessions',
  columns: { pk: generatedKey, name: exact(1_024), expires_at: number },
  primaryKey: ['pk'],
  indexes: { agent_component_sessions_name: unique(['name']), agent_components_by_expiry: index(['expires_at']) },
});

/** A value (kind 0), or a list (kind 1), whose content is in its items. */
export const COMPONENTS = table({
  name: 'agent_components',
  columns: {
    session_pk: key,
    name: exact(255),
    kind: count,
    version: number,
    items: count,
    digest: exact(64),
    content: textOrNull,
  },
  primaryKey: ['session_pk', 'name', 'kind'],
  parent: 'agent_component_sessions',
});

/** An item of a list. */
export const COMPONENT_ITEMS = table({
  name: 'agent_component_items',
  columns: { session_pk: key, name: exact(255), seq: count, content: text },
  primaryKey: ['session_pk', 'name', 'seq'],
  parent: 'agent_component_sessions',
});
