import { type Entry, isSummary } from './entries.js';
import type { ModelMetadata } from './metadata.js';
import { momentAfter, wholeView } from './moments.js';
import { type ModelTurn, heldAt } from './turns.js';
import { type Changes, type StateMap, apply, only, storedChangesOf } from './state.js';

export interface ModelKey {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** A session with its whole log. A new object is a new incarnation. */
export class ModelSession {
  readonly log: Entry[] = [];
  readonly createTime: number;
  lastUpdateTime: number;
  turn: ModelTurn | undefined;

  constructor(
    readonly key: ModelKey,
    readonly initial: Changes,
    now: number,
    public expiresAt: number,
    readonly metadata: ModelMetadata,
    readonly turnsOnly: boolean,
  ) {
    this.createTime = now;
    this.lastUpdateTime = now;
  }

  get lastSeq(): number {
    return this.log.length;
  }

  /** The last event that is not a summary. */
  get tipSeq(): number {
    return this.log.findLast((entry) => !isSummary(entry))?.seq ?? 0;
  }

  turnAt(now: number): ModelTurn | undefined {
    return heldAt(this.turn, now);
  }

  get conversationCount(): number {
    return momentAfter(this.log).conversationCount;
  }

  view(): Entry[] {
    return wholeView(this.log);
  }

  /** The session's own state after an event: the initial state and the changes of its events. */
  state(seq = this.lastSeq): StateMap {
    const state: StateMap = new Map();
    apply(state, only(this.initial, 'session'));
    for (const { event } of this.log.slice(0, seq)) apply(state, only(storedChangesOf(event.actions), 'session'));
    return state;
  }
}
