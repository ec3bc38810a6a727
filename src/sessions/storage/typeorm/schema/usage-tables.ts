import { count, exact, id, index, number, table } from './table.js';

/** What is counted of the answers of a model. */
const counts = {
  events: number,
  prompt_tokens: number,
  cached_tokens: number,
  output_tokens: number,
  thinking_tokens: number,
  tool_use_tokens: number,
  total_tokens: number,
} as const;

/** The tokens of a user, or a part of those of an app (empty `user_id`), in a day or a month. */
export const SHARED_USAGE = table({
  name: 'agent_shared_usage',
  columns: { app_name: id, user_id: id, period: exact(10), shard: count, model: id, ...counts, expires_at: number },
  primaryKey: ['app_name', 'user_id', 'period', 'shard', 'model'],
  indexes: { agent_shared_usage_by_expiry: index(['expires_at']) },
});
