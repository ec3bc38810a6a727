/** What happens with a message that comes while a turn runs. */
export const RUN_POLICIES = ['reject', 'enqueue', 'interrupt', 'rollback', 'merge', 'debounce'] as const;

/** One of {@link RUN_POLICIES}. */
export type RunPolicy = (typeof RUN_POLICIES)[number];

/** Whether a message of this policy stops a running turn. */
export function isInterrupting(policy: RunPolicy): boolean {
  return policy === 'interrupt' || policy === 'rollback';
}
