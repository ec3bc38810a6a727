import type { AppendOutcome, Commit } from '../domain/stored/commit.js';
import type { SessionKey } from '../domain/values/ids.js';
import type { Held, HoldRequest, PlannedWrite, SessionHead } from '../storage/planned-write.js';
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
    const plan = head && new SessionPlan(head, new Map(session.events), session.keptOf);
    for (const operation of ofSession) await operation.decideHeld(plan, session, held);
    const write = plan?.write();
    if (write) writes.push(write);
    heads.push({ key: first.key, head: write?.after ?? head });
  }
  return { writes, skipped, heads };
}

/** What has to be held for operations on one session. */
export function holdRequestFor(operations: readonly Operation[]): HoldRequest {
  const [first] = operations;
  if (!first) throw new Error('Operations have a session');
  return {
    key: first.key,
    ids: operations.flatMap(({ ids }) => ids),
    withMetadata: operations.some(({ withMetadata }) => withMetadata),
    owners: operations.flatMap(({ owners }) => owners),
  };
}

/** One commit, for a write that somebody else commits: what has to be held for it, and what becomes of it then. */
export class HeldAppend {
  readonly #append: PendingAppend;

  constructor(commit: Commit) {
    this.#append = new PendingAppend(commit, ignore, ignore);
  }

  get request(): HoldRequest {
    return holdRequestFor([this.#append]);
  }

  async decide(held: Held): Promise<{ readonly outcome: AppendOutcome; readonly writes: readonly PlannedWrite[] }> {
    const { writes } = await decideHeld([[this.#append]], held);
    return { outcome: this.#append.decided ?? { kind: 'missing' }, writes };
  }
}

function ignore(): void {}
