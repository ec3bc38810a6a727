import { withLease } from '../sessions/leases/with-lease.js';
import type { SessionKey } from '../sessions/domain/ids.js';
import { LONGEST_DELAY_MS, MAX_DUE_ENTRIES } from '../sessions/domain/agenda-rules.js';
import type { AgendaEntry } from '../sessions/storage/agenda.js';
import type { SessionStorage } from '../sessions/storage/session-storage.js';
import type { DueSince } from './due-since.js';
import { agendaNameOf, noteOf } from './session-names.js';
import type { SummaryAgenda } from './summary-agenda.js';
import type { SummaryWork } from './summary-work.js';
import { type SummaryFacts, type Threshold, recheckTimesOf } from './thresholds.js';

export interface AgendaRoundsOptions {
  readonly storage: SessionStorage;
  readonly work: SummaryWork;
  readonly threshold: Threshold;
  readonly agenda: SummaryAgenda;
  readonly warn: (what: string, error: unknown) => void;
  /** Whether a session was found due here, by an event that may not be its newest any more. */
  readonly isKnown: (name: string) => boolean;
  /** Sees to a session that is due, now or since an event. */
  readonly see: (name: string, since?: DueSince) => void;
}

/** Of the lease that keeps other processes from looking too, and of the interval in SchedulerRegistry. */
export const SWEEP_NAME = 'nestjs-agent-sessions:summaries';

/** How long others wait after a process crashed in the middle. */
const LEASE_MS = 30_000;
const ENTRIES_AT_ONCE = 100;

/** What an entry says of a session. */
interface Note {
  readonly entry: AgendaEntry;
  readonly key: SessionKey;
  readonly since?: DueSince | undefined;
}

/** Looks at the sessions on the agenda whose time has come, in one process at a time. */
export class AgendaRounds {
  constructor(private readonly options: AgendaRoundsOptions) {}

  /** Says how many sessions they were. */
  async go(signal?: AbortSignal): Promise<number> {
    const { storage, warn } = this.options;
    const onError = (error: unknown): void => warn('The lease for looking at what is due failed', error);
    const outcome = await withLease(
      { leases: storage.leases, name: SWEEP_NAME, ttlMs: LEASE_MS, onError },
      async (held) => {
        const seen = new Set<string>();
        for (let others = 0; ;) {
          const limit = Math.min(MAX_DUE_ENTRIES, ENTRIES_AT_ONCE + others);
          const entries = await storage.agenda.due(limit);
          const own = entries.flatMap(noteIn);
          for (const note of own) {
            held.signal.throwIfAborted();
            if (signal?.aborted) return seen.size;
            await this.#visit(note, signal);
            seen.add(agendaNameOf(note.key));
          }
          // What others put there stays where it is, in front of what comes next.
          others = entries.length - own.length;
          if (entries.length < limit || others === MAX_DUE_ENTRIES) return seen.size;
        }
      },
    );
    return outcome.ran ? outcome.result : 0;
  }

  /** One that fails is put off, so that it does not stand in front of the others for ever. */
  async #visit(note: Note, signal: AbortSignal | undefined): Promise<void> {
    const { agenda, warn } = this.options;
    try {
      await this.#look(note, signal);
    } catch (error) {
      warn('Whether a session needs a summary could not be found out', error);
      await agenda.postpone(note.entry.name);
    }
  }

  /** What it finds stays on the agenda until there is nothing left to do. */
  async #look({ entry, key, since }: Note, signal: AbortSignal | undefined): Promise<void> {
    const { storage, work, agenda, isKnown, see } = this.options;
    const facts = await (since ? work.factsSince(key, since) : work.factsOf(key));
    if (!facts) return storage.agenda.remove(entry);
    if (since || isKnown(entry.name) || (await work.isDue(facts, signal))) {
      await agenda.postpone(entry.name, facts.idleMs);
      see(agendaNameOf(key), since);
      return;
    }
    const nextMs = this.#nextLookIn(facts);
    if (nextMs === undefined) await storage.agenda.remove(entry);
    else await storage.agenda.put(entry.name, nextMs);
  }

  /** When idleness alone may make it due, if ever. */
  #nextLookIn(facts: SummaryFacts): number | undefined {
    const { work, threshold } = this.options;
    const times = recheckTimesOf(threshold).filter((time) => time >= facts.idleMs);
    if (times.length === 0 || !work.hasEnough(facts)) return undefined;
    return Math.min(LONGEST_DELAY_MS, Math.floor(Math.min(...times) - facts.idleMs) + 1);
  }
}

function noteIn(entry: AgendaEntry): Note[] {
  const note = noteOf(entry.name);
  return note ? [{ entry, ...note }] : [];
}
