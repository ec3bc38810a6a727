import { type BranchOptions, branchView } from '../../sessions/domain/view/branch-view.js';
import { isRewind } from '../../sessions/domain/event/event-inspection.js';
import type { Part } from '../../sessions/domain/event/content.js';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import type { ConversationEvent } from './conversation.js';

/** What ADK asks users by calls that no model made and no model should see. */
const REQUESTS_TO_USERS = new Set(['adk_request_credential', 'adk_request_confirmation', 'adk_request_input']);

/** An event, and what an agent sees of it. */
export interface VisibleEvent<Given extends ConversationEvent> {
  readonly event: Given;
  readonly seen: ConversationEvent;
}

/** The events that say something to an agent of the branch. A summary of the branch is the first one. */
export function visibleEvents<Given extends ConversationEvent>(
  events: readonly Given[],
  options: BranchOptions,
): VisibleEvent<Given>[] {
  return branchView(events, options).flatMap((event) => {
    const seen = event.partial === true || isRewind(event) ? undefined : withoutRequestsToUser(event);
    return seen ? [{ event, seen }] : [];
  });
}

/**
 * An event of any branch as readers of the conversation see it: without what agents ask users, and without what only adapters read of
 * that. `undefined` if it says nothing to them: a rewind, a partial event, a summary of a branch.
 *
 * @example const visible = session.events.flatMap((event) => visibleEvent(event) ?? []);
 */
export function visibleEvent(event: LoggedEvent): LoggedEvent | undefined {
  const [visible] = visibleEvents([event], { branches: 'all' });
  if (!visible || visible.seen === event) return visible && event;
  const { customMetadata: _record, ...rest } = event;
  return { ...rest, content: visible.seen.content ?? null };
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
