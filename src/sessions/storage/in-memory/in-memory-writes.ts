import type { StoredEvent } from '../../domain/stored/commit.js';
import { isExpired } from '../../domain/values/expiry.js';
import { type SessionKey, scopeOfOwner } from '../../domain/values/ids.js';
import { partialsLeft } from '../../domain/stored/partial-event.js';
import type { StateExcess, StateSize } from '../../domain/stored/state-size.js';
import type { SharedPart } from '../../domain/stored/stored-json.js';
import type {
  LocalSession,
  LocalWriteStore,
  PlannedScope,
  PlannedWrite,
  SessionHead,
  Upkeep,
} from '../planned-write.js';
import type { InMemoryMarks } from './in-memory-marks.js';
import type { InMemoryPartials } from './in-memory-partials.js';
import type { Repairs } from '../rebuild.js';
import { ScopeState, excessIn } from './scope-state.js';
import type { SessionIndex, StoredEntry } from './session-index.js';
import type { SharedStates } from './shared-states.js';
import type { UsageSums } from './usage-sums.js';

/** What sessions write to. */
interface WrittenParts {
  readonly sessions: SessionIndex;
  readonly shared: SharedStates;
  readonly usage: UsageSums;
  readonly marks: InMemoryMarks;
  readonly partials: InMemoryPartials;
  /** The time of an operation. Throws after close. */
  readonly now: () => number;
}

/** Writes to sessions in memory. */
export class InMemoryWrites implements LocalWriteStore {
  readonly isLocal = true;

  constructor(private readonly parts: WrittenParts) {}

  find(key: SessionKey): LocalSession | undefined {
    const now = this.parts.now();
    const entry = this.parts.sessions.get(key);
    return entry && !isExpired(entry.record.expiresAt, now)
      ? new FoundSession(entry, this.parts.shared, now)
      : undefined;
  }

  write(write: PlannedWrite): void {
    const { key, after } = write;
    const entry = this.parts.sessions.get(key);
    if (!entry) return;
    const now = this.parts.now();
    for (const event of write.events) entry.log.add(event);
    entry.state.put(write.state);
    entry.stamp = after.stamp;
    this.parts.sessions.change(entry, after.record, after.metadata);
    this.parts.marks.noteChange(entry, write.before.record.waitingSince);
    if (entry.partials) entry.partials = partialsLeft(entry.partials, write.endsPartials);
    this.parts.partials.put(entry, write.partials);
    if (write.usage) this.parts.usage.add(key, write.usage, now);
    for (const scope of write.scopes) this.#writeScope(entry, scope, now);
    if (write.upkeep) keepUp(entry, write.before.record.firstSeq, write.upkeep);
  }

  #writeScope(entry: StoredEntry, { owner, entries, lifetime }: PlannedScope, now: number): void {
    this.parts.shared.write(owner, entries, lifetime, now);
    if (entries.length === 0 || !entry.sharedWrites) return;
    const scope = scopeOfOwner(owner);
    (entry.sharedWrites[scope] ??= new ScopeState(scope, owner)).put(entries);
  }
}

function keepUp(entry: StoredEntry, firstSeqBefore: number, { trim, checkpoint, repairs }: Upkeep): void {
  if (trim) {
    entry.log.forgetPayloads(firstSeqBefore, trim.digests);
    entry.baseState = trim.baseState;
    entry.checkpoints = entry.checkpoints.filter(({ seq }) => seq >= entry.record.firstSeq - 1);
  }
  if (checkpoint) {
    const before = entry.checkpoints.findLastIndex(({ seq }) => seq <= checkpoint.seq);
    if (entry.checkpoints[before]?.seq !== checkpoint.seq) entry.checkpoints.splice(before + 1, 0, checkpoint);
  }
  if (repairs) repair(entry, repairs);
}

function repair(entry: StoredEntry, { events = [], anchors = [], removeCheckpoints = [] }: Repairs): void {
  entry.checkpoints = entry.checkpoints.filter(({ seq }) => !removeCheckpoints.includes(seq));
  entry.log.replaceTexts(events);
  entry.log.addAnchors(anchors);
}

class FoundSession implements LocalSession {
  constructor(
    private readonly entry: StoredEntry,
    private readonly shared: SharedStates,
    readonly now: number,
  ) {}

  get head(): SessionHead {
    const { record, metadata, stamp } = this.entry;
    return { record, metadata, state: undefined, stamp };
  }

  find(events: readonly { readonly id: string }[]): Map<string, StoredEvent> {
    const found = new Map<string, StoredEvent>();
    for (const { id } of events) {
      const event = this.entry.log.find(id);
      if (event) found.set(id, event);
    }
    return found;
  }

  countState(): StateSize {
    return this.entry.state.size();
  }

  excessOf(commit: SharedPart): StateExcess | undefined {
    const scopes = this.shared.ofUser(this.entry.record, this.now);
    return commit.maxStateBytes && excessIn(scopes, commit, commit.maxStateBytes);
  }
}
