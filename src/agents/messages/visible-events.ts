import { isRewind, isSummary } from '../../sessions/domain/event-inspection.js';
import type { Part } from '../../sessions/domain/content.js';
import type { LoggedEvent } from '../../sessions/domain/event.js';
import type { ConversationEvent } from './conversation.js';

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

/** What ADK asks users by calls that no model made and no model should see. */
const REQUESTS_TO_USERS = new Set(['adk_request_credential', 'adk_request_confirmation', 'adk_request_input']);

/** The events that say something to an agent of the branch. */
export function visibleEvents(events: readonly ConversationEvent[], options: BranchOptions): ConversationEvent[] {
  return events.flatMap((event) => {
    if (event.partial === true || isRewind(event)) return [];
    if (!isSummary(event) && !isOfBranch(event.branch, options)) return [];
    return withoutRequestsToUser(event) ?? [];
  });
}

/**
 * An event of any branch as readers of the conversation see it: without what agents ask users, and without what only adapters read of
 * that. `undefined` if it says nothing: a rewind, a partial event.
 *
 * @example const visible = session.events.flatMap((event) => visibleEvent(event) ?? []);
 */
export function visibleEvent(event: LoggedEvent): LoggedEvent | undefined {
  const [visible] = visibleEvents([event], { branches: 'all' });
  if (!visible || visible === event) return visible && event;
  const { customMetadata: _record, ...rest } = event;
  return { ...rest, content: visible.content ?? null };
}

function isOfBranch(ofEvent: string | undefined, { branch, branches = 'prefix' }: BranchOptions): boolean {
  if (branches === 'all' || !branch) return true;
  if (branches === 'exact') return ofEvent === branch;
  return !ofEvent || ofEvent === branch || branch.startsWith(`${ofEvent}.`);
}

/** Nothing if the event only asks the user, or answers. */
function withoutRequestsToUser(event: ConversationEvent): ConversationEvent | undefined {
  const parts = event.content?.parts ?? [];
  const said = parts.filter((part) => !isRequestToUser(part));
  if (said.length === parts.length) return event;
  const { author, branch, actions, interrupted } = event;
  const rest = {
    ...(interrupted !== undefined && { interrupted }),
    ...(author !== undefined && { author }),
    ...(branch !== undefined && { branch }),
    ...(actions && { actions }),
  };
  return said.length === 0 ? undefined : { ...rest, content: { ...event.content, parts: said } };
}

function isRequestToUser({ functionCall, functionResponse }: Part): boolean {
  return REQUESTS_TO_USERS.has(functionCall?.name ?? functionResponse?.name ?? '');
}
