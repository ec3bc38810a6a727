import { isRedacted } from '../event/event-inspection.js';
import { EVENT_KINDS, type EventKind, type RetentionSettings } from '../../../config/retention-settings.js';
import { canonicalJson } from '../values/canonical-json.js';
import type { StoredEvent } from '../stored/commit.js';
import { findEventKinds } from '../event/event-kinds.js';
import type { LoggedEvent } from '../event/event.js';
import { redactedEvent, redactionOf } from '../write/redacted-event.js';
import { type RetainedSession, fitsRule, lastKept } from './retention-rules.js';

/** Which rule counts for a kind of events of a session, and until when they were kept long enough. */
export interface KindRule {
  readonly kind: EventKind;
  /** The number of the rule. */
  readonly rule: number;
  /** Events that were appended then or before have to go. */
  readonly until: number;
}

/** How far a log was read for a kind: what it says of it up to `seq` is gone. */
export interface KindMark {
  readonly seq: number;
  /** The next event was not appended before, nor will it be. */
  readonly nextAt: number;
}

/** How far a log was read, by kind. */
export type LogMarks = Readonly<Partial<Record<EventKind, KindMark>>>;

/** For each kind that a rule names, the first rule that fits the session. */
export function kindRulesFor(
  session: Omit<RetainedSession, 'lastUpdateTime'>,
  { rules }: Pick<RetentionSettings, 'rules'>,
  now: number,
): readonly KindRule[] {
  return EVENT_KINDS.flatMap((kind) => {
    const number = rules.findIndex((one) => one.kinds?.includes(kind) && fitsRule(session, one));
    const rule = rules[number];
    return rule ? [{ kind, rule: number, until: lastKept(rule, now) }] : [];
  });
}

/** The later of two marks, for each kind. */
export function joinMarks(one: LogMarks, other: LogMarks): LogMarks {
  const joined: Partial<Record<EventKind, KindMark>> = {};
  for (const kind of EVENT_KINDS) {
    const marks = [one[kind], other[kind]].filter((mark) => mark !== undefined);
    const [mark] = marks.toSorted((a, b) => b.seq - a.seq || b.nextAt - a.nextAt);
    if (mark) joined[kind] = mark;
  }
  return joined;
}

/** Reads a log from its marks on, for each kind up to the first event that is young enough. */
export class LogReading {
  readonly #rules: readonly KindRule[];
  readonly #marks: Partial<Record<EventKind, KindMark>>;
  /** Kinds whose next event is not read yet. */
  readonly #open: Set<EventKind>;

  constructor(rules: readonly KindRule[], marks: LogMarks) {
    this.#rules = rules;
    this.#marks = { ...marks };
    this.#open = new Set(rules.flatMap(({ kind, until }) => ((marks[kind]?.nextAt ?? 0) <= until ? [kind] : [])));
  }

  get isDone(): boolean {
    return this.#open.size === 0;
  }

  /** The first event to read. */
  get from(): number {
    return Math.min(...[...this.#open].map((kind) => (this.#marks[kind]?.seq ?? 0) + 1));
  }

  get marks(): LogMarks {
    return this.#marks;
  }

  /** The rules by which an event has to go, whatever it says. Events are given in the order of the log. */
  add({ seq, appendedAt }: Pick<StoredEvent, 'seq' | 'appendedAt'>): readonly KindRule[] {
    return this.#rules.filter(({ kind, until }) => {
      if (!this.#open.has(kind) || seq <= (this.#marks[kind]?.seq ?? 0)) return false;
      if (appendedAt > until) {
        this.#marks[kind] = { seq: seq - 1, nextAt: appendedAt };
        this.#open.delete(kind);
        return false;
      }
      this.#marks[kind] = { seq, nextAt: 0 };
      return true;
    });
  }

  /** No kind has anything up to this event. */
  skipTo(seq: number): void {
    for (const kind of this.#open) {
      if ((this.#marks[kind]?.seq ?? 0) < seq) this.#marks[kind] = { seq, nextAt: 0 };
    }
  }

  /** What is appended from now on is younger. */
  end(lastSeq: number, now: number): void {
    for (const kind of this.#open) {
      this.#marks[kind] = { seq: Math.max(lastSeq, this.#marks[kind]?.seq ?? 0), nextAt: now };
    }
    this.#open.clear();
  }
}

/** An event without what has to go, and by which rules; undefined if it does not say any of that. */
export interface DueEvent {
  readonly event: LoggedEvent;
  readonly rules: readonly KindRule[];
}

/** Takes from an event what the rules name. If nothing that it says is left, all of it is redacted. */
export function dueEvent(
  event: LoggedEvent,
  rules: readonly KindRule[],
  note: { readonly at: number; readonly reason: string },
): DueEvent | undefined {
  if (rules.length === 0 || isRedacted(event)) return undefined;
  const gone = event.redaction?.kinds ?? [];
  const present = [...findEventKinds(event)].filter((kind) => !gone.includes(kind));
  const due = rules.filter(({ kind }) => present.includes(kind));
  if (due.length === 0) return undefined;
  const kinds = due.map(({ kind }) => kind);
  const isAll = present.every((kind) => kinds.includes(kind));
  const { redaction, ...before } = event;
  const next = redactedEvent(event, redactionOf(event, isAll ? note : { ...note, kinds }));
  const { redaction: _note, ...left } = next;
  // It says nothing, such as a change of state.
  if (!redaction && canonicalJson({ ...left, seq: event.seq }) === canonicalJson(before)) return undefined;
  return { event: { ...next, seq: event.seq }, rules: due };
}
