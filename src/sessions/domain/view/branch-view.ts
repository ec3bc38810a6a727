import { isBranchSummary, isRedacted, isSummary } from '../event/event-inspection.js';
import type { EventLike } from '../event/event.js';

/** Which events of other agents an agent sees, by the branches of a run. */
export interface BranchOptions {
  /** The branch of the agent: the names of agents above it, with dots between them. */
  readonly branch?: string | undefined;
  /**
   * - `prefix`: events of this branch, of branches above it, and without a branch. The default, as in ADK
   * - `exact`: events of this branch only
   * - `all`: all events
   */
  readonly branches?: 'prefix' | 'exact' | 'all' | undefined;
}

/** What these rules read of an event. One without number is covered by no summary of a branch. */
export type BranchEvent = Pick<EventLike, 'actions' | 'branch' | 'redaction'> & { readonly seq?: number | undefined };

/** Whether readers of a branch see an event of this branch. */
export function isOfBranch(ofEvent: string | undefined, { branch, branches = 'prefix' }: BranchOptions): boolean {
  if (branches === 'all' || !branch) return true;
  if (branches === 'exact') return ofEvent === branch;
  return !ofEvent || ofEvent === branch || branch.startsWith(`${ofEvent}.`);
}

/**
 * The events of a view that readers of a branch see: what no other branch said, and first of all the newest summary of the branch, in place
 * of what it covers. Without a summary of their branch, they get the one of the whole conversation, as everybody does.
 *
 * @example const events = branchView(session.events, { branch: 'root.researcher' });
 */
export function branchView<Given extends BranchEvent>(events: readonly Given[], options: BranchOptions): Given[] {
  const seen = events.filter(
    (event) => !isBranchSummary(event) && (isSummary(event) || isOfBranch(event.branch, options)),
  );
  const summary = branchSummaryOf(events, options);
  const toSeq = summary?.actions?.branchSummary?.toSeq ?? 0;
  return summary ? [summary, ...seen.filter((event) => toBranchPosition(event) > toSeq)] : seen;
}

/** The event with the summary that readers of this branch get; `undefined` if they get that of the whole. */
export function branchSummaryOf<Given extends BranchEvent>(
  events: readonly Given[],
  { branch, branches }: BranchOptions,
): Given | undefined {
  if (!branch || branches === 'all') return undefined;
  const whole = events.reduce((last, event) => Math.max(last, event.actions?.compaction?.toSeq ?? -1), -1);
  return events.findLast((event) => isSummaryOf(event, branch) && (event.actions?.branchSummary?.toSeq ?? 0) > whole);
}

/**
 * Whether it is a summary of exactly this branch: one below it sees other events beside it. Of a redacted one nothing is left to read.
 */
export function isSummaryOf(event: BranchEvent, branch: string): boolean {
  return event.actions?.branchSummary?.branch === branch && !isRedacted(event);
}

/** Where an event stands in the conversation: a summary stands where the last event that it covers stood. */
function toBranchPosition({ actions, seq = Infinity }: BranchEvent): number {
  return actions?.compaction?.toSeq ?? seq;
}
