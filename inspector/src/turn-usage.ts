import { isByUser } from '../../src/sessions/domain/event/event-inspection.js';
import type { LoggedEvent } from '../../src/sessions/domain/event/event.js';
import {
  type ModelUsage,
  type TokenUsage,
  NO_USAGE,
  addUsage,
  usageByModel,
  usageOfEvent,
} from '../../src/sessions/domain/usage/usage.js';

/** What the figures of an event are made of. It is small, so that those of a long log fit into a page. */
export interface EventFigures {
  readonly seq: number;
  readonly invocationId: string;
  readonly timestamp: number;
  readonly isByUser: boolean;
  /** Whether an agent says or calls something. */
  readonly isAnswer: boolean;
  readonly usage: ModelUsage | undefined;
  /** How long it took, if the event itself says so. */
  readonly ownMs: number | undefined;
}

/** One turn: the user's message, and what agents did with it. */
export interface TurnFigures {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly usage: TokenUsage;
  /** From the user's message to the first answer. */
  readonly firstAnswerMs: number | undefined;
  /** From the first event to the last one, without what the user took to answer in between. */
  readonly wholeMs: number | undefined;
}

/** What one model used, and how long its answers took: as its request says, or else since the event before it in its turn. */
export interface ModelFigures extends ModelUsage {
  readonly medianMs: number | undefined;
  readonly slowestMs: number | undefined;
}

/** The figures of some events of a log. */
export interface LogFigures {
  readonly turns: readonly TurnFigures[];
  /** One entry for each model, sorted by its name. */
  readonly models: readonly ModelFigures[];
  readonly total: TokenUsage;
}

export function figuresOfEvent(event: LoggedEvent): EventFigures {
  const { seq, invocationId, timestamp, author, content, actions, modelRequest } = event;
  const isOfUser = isByUser(event);
  return {
    seq,
    invocationId,
    timestamp,
    isByUser: isOfUser,
    isAnswer: !isOfUser && author !== 'system' && (content?.parts?.length ?? 0) > 0,
    usage: usageOfEvent(event),
    ownMs: modelRequest?.durationMs ?? actions.compaction?.durationMs,
  };
}

/**
 * @param events in their order
 * @param isWhole whether the first of them begins a turn. Otherwise the oldest turn is left out: its beginning is not known.
 */
export function figuresOf(events: readonly EventFigures[], { isWhole = true } = {}): LogFigures {
  const turns = turnsOf(events);
  const times = answerTimes(events, turns);
  const models = usageByModel(events.flatMap(({ usage }) => usage ?? []));
  return {
    turns: turns.slice(isWhole ? 0 : 1).map(figuresOfTurn),
    models: models.map((usage) => ({ ...usage, ...spreadOf(times.get(usage.model) ?? []) })),
    total: models.reduce<TokenUsage>(addUsage, NO_USAGE),
  };
}

/** The middle one of some times, and the longest. */
export function spreadOf(times: readonly number[]): Pick<ModelFigures, 'medianMs' | 'slowestMs'> {
  const sorted = times.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return {
    medianMs: low === undefined || high === undefined ? undefined : (low + high) / 2,
    slowestMs: sorted.at(-1),
  };
}

type Turn = readonly [EventFigures, ...EventFigures[]];

/**
 * Events with the same invocation are one turn. Those without one are from a message of the user to the next. What is neither, such as a
 * summary between two turns, belongs to no turn.
 */
function turnsOf(events: readonly EventFigures[]): Turn[] {
  const turns: [EventFigures, ...EventFigures[]][] = [];
  const byInvocation = new Map<string, EventFigures[]>();
  for (const event of events) {
    const { invocationId } = event;
    const isNamed = invocationId !== '';
    const begun = isNamed ? byInvocation.get(invocationId) : nameless(turns.at(-1), event);
    if (begun) begun.push(event);
    else if (isNamed || event.isByUser) {
      const turn: [EventFigures] = [event];
      turns.push(turn);
      if (isNamed) byInvocation.set(invocationId, turn);
    }
  }
  return turns;
}

/** The turn that an event without an invocation goes on with. */
function nameless<Last extends readonly EventFigures[]>(last: Last | undefined, event: EventFigures): Last | undefined {
  return last?.[0]?.invocationId === '' && !event.isByUser ? last : undefined;
}

function figuresOfTurn(turn: Turn): TurnFigures {
  const [first] = turn;
  const answer = turn.find(({ isAnswer }) => isAnswer);
  const steps = turn.slice(1).flatMap((event, index) => (event.isByUser ? [] : msBetween(turn[index], event)));
  return {
    fromSeq: first.seq,
    toSeq: turn.at(-1)?.seq ?? first.seq,
    usage: turn.reduce<TokenUsage>((sum, { usage }) => (usage ? addUsage(sum, usage) : sum), NO_USAGE),
    firstAnswerMs: first.isByUser && answer ? msBetween(first, answer) : undefined,
    wholeMs: steps.length > 0 ? steps.reduce((sum, ms) => sum + ms) : undefined,
  };
}

function answerTimes(events: readonly EventFigures[], turns: readonly Turn[]): ReadonlyMap<string, number[]> {
  const before = new Map(turns.flatMap((turn) => turn.slice(1).map((event, index) => [event, turn[index]] as const)));
  const times = new Map<string, number[]>();
  for (const event of events) {
    const { usage, ownMs } = event;
    const last = before.get(event);
    const ms = ownMs ?? (last && msBetween(last, event));
    if (!usage || ms === undefined) continue;
    const known = times.get(usage.model);
    if (known) known.push(ms);
    else times.set(usage.model, [ms]);
  }
  return times;
}

/** Those who append may give timestamps, which need not rise. */
function msBetween(before: EventFigures | undefined, after: EventFigures): number {
  return Math.max(0, after.timestamp - (before ?? after).timestamp);
}
