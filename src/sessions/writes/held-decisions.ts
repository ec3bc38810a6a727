import type { AppendOutcome, Commit } from '../domain/commit.js';
import type { SessionKey } from '../domain/ids.js';
import type { Held, PlannedWrite, SessionHead } from '../storage/planned-write.js';
import { type Operation, PendingAppend } from './operations.js';
import { SessionPlan } from './session-plan.js';

/** What becomes of operations on held sessions. */
export interface HeldDecisions {
  readonly writes: readonly PlannedWrite[];
  /** The operations on sessions that others hold. */
  readonly skipped: readonly Operation[];
  /** The sessions after the writes. */
  readonly heads: readonly { readonly key: SessionKey; readonly head: SessionHead | undefined }[];
}

/** Decides operations, grouped by their sessions, on what is stored. */
export async function decideHeld(groups: readonly (readonly Operation[])[], held: Held): Promise<HeldDecisions> {
  const writes: PlannedWrite[] = [];
  const skipped: Operation[] = [];
  const heads: { readonly key: SessionKey; readonly head: SessionHead | undefined }[] = [];
  for (const [index, ofSession] of groups.entries()) {
    const session = held.sessions[index];
    const [first] = ofSession;
    if (!session || !first) {
      skipped.push(...ofSession);
      continue;
    }
    const { head } = session;
    const plan = head && new SessionPlan(head, new Map(session.events));
    for (const operation of ofSession) await operation.decideHeld(plan, session, held);
    const write = plan?.write();
    if (write) writes.push(write);
    heads.push({ key: first.key, head: write?.after ?? head });
  }
  return { writes, skipped, heads };
}

/** Decides one commit on a held session, for a write that somebody else commits. */
export async function decideAppend(
  commit: Commit,
  held: Held,
): Promise<{ readonly outcome: AppendOutcome; readonly write: PlannedWrite | undefined }> {
  const append = new PendingAppend(commit, ignore, ignore);
  const { writes } = await decideHeld([[append]], held);
  return { outcome: append.decided ?? { kind: 'missing' }, write: writes[0] };
}

function ignore(): void {}
