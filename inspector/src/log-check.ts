import type { RemoteKey, RemoteSession, SessionsClient } from '../../src/client/index.js';
import { type Note, gapNote } from '../../src/doctor/findings.js';
import { type Control, livePathOf } from '../../src/doctor/live-path.js';
import { ToolCheck } from '../../src/doctor/tool-check.js';
import type { FunctionCall, FunctionResponse } from '../../src/sessions/domain/event/content.js';
import type { LoggedEvent } from '../../src/sessions/domain/event/event.js';
import { isInRanges } from '../../src/sessions/domain/values/seq-ranges.js';
import { StateFold, isOwnKey, stateDifference } from '../../src/sessions/domain/history/state-history.js';
import type { Progress } from './progress.js';

/** Events of one request. */
const PAGE = 200;
/** So many gaps are enough to see what is wrong. */
const MOST_GAPS = 10;

/** What was found in a log, and how much of it was read. */
export interface LogVerdict {
  readonly events: number;
  readonly notes: readonly Note[];
}

/**
 * Reads a whole log, as each client may, and judges it by the rules of `agent-sessions verify`: that no event is missing, that tool calls and
 * responses belong together, and that the state of the session is what its events say.
 */
export class LogCheck {
  readonly #gaps: Note[] = [];
  readonly #controls: Control[] = [];
  readonly #events: LoggedEvent[] = [];
  #state = new StateFold({});
  #firstSeq = 1;
  #next = 1;

  constructor(
    private readonly client: Pick<SessionsClient, 'listEvents' | 'stateAt' | 'getSession'>,
    private readonly key: RemoteKey,
    private readonly onProgress: (progress: Progress) => void,
    private readonly signal: AbortSignal,
  ) {}

  async run(): Promise<LogVerdict> {
    await this.#begin();
    let session = await this.#session();
    // Others may append meanwhile. What they add is read, too.
    for (let version = 0; version < session.version; session = await this.#session()) {
      version = session.version;
      await this.#readTo(version);
    }
    const path = livePathOf(this.#controls, { from: this.#firstSeq, to: session.version });
    const tools = new ToolCheck(this.#firstSeq === 1);
    for (const event of this.#events) if (isInRanges(event.seq, path)) tools.add(event);
    const state = this.#gaps.length === 0 ? this.#stateNotes(session) : [];
    return { events: this.#events.length, notes: [...this.#gaps.slice(0, MOST_GAPS), ...tools.notes(), ...state] };
  }

  async #begin(): Promise<void> {
    const { firstSeq, lastSeq } = await this.client.listEvents({ ...this.key, limit: 1 });
    this.#firstSeq = this.#next = firstSeq;
    if (lastSeq < firstSeq) return;
    // With what the session was created, or what the events did that are not kept any more.
    const { state } = await this.client.stateAt({ ...this.key, seq: firstSeq - 1 });
    this.#state = new StateFold(state);
  }

  async #session(): Promise<RemoteSession> {
    const session = await this.client.getSession({ ...this.key, numRecentEvents: 1 });
    if (!session) throw new Error('The session was deleted meanwhile.');
    return session;
  }

  async #readTo(lastSeq: number): Promise<void> {
    while (this.#next <= lastSeq) {
      this.signal.throwIfAborted();
      this.onProgress({ read: this.#next - this.#firstSeq, total: lastSeq - this.#firstSeq + 1 });
      const limit = Math.min(PAGE, lastSeq - this.#next + 1);
      const { events } = await this.client.listEvents({ ...this.key, afterSeq: this.#next - 1, limit });
      for (const event of events) this.#add(event);
      if (events.length === 0) this.#passTo(lastSeq + 1);
    }
  }

  #add(event: LoggedEvent): void {
    this.#passTo(event.seq);
    this.#next = event.seq + 1;
    this.#state.add(event);
    const { compaction, rewind } = event.actions;
    if (compaction ?? rewind) {
      this.#controls.push({ seq: event.seq, rewindTo: rewind?.toSeq, summaryTo: compaction?.toSeq });
    }
    this.#events.push(withoutBulk(event));
  }

  #passTo(seq: number): void {
    if (seq <= this.#next) return;
    this.#gaps.push(gapNote(this.#next, seq));
    this.#next = seq;
  }

  #stateNotes({ state }: RemoteSession): Note[] {
    const own = Object.fromEntries(Object.entries(state).filter(([name]) => isOwnKey(name)));
    const { stateDelta, stateRemovals } = stateDifference(own, this.#state.toRecord());
    const wrong = [...Object.keys(stateDelta), ...stateRemovals];
    if (wrong.length === 0) return [];
    return [{ code: 'STATE_DIFFERS', detail: `${wrong.length} keys are not what the events say` }];
  }
}

/** What the check of tools reads, so that a long log fits into the memory of a page. */
function withoutBulk(event: LoggedEvent): LoggedEvent {
  const { seq, id, author, branch, invocationId, timestamp, longRunningToolIds, content } = event;
  const parts = content?.parts?.map(({ text, functionCall, functionResponse }) => ({
    ...(typeof text === 'string' && { text: text.slice(0, 1) }),
    ...(functionCall && { functionCall: namesOf(functionCall) }),
    ...(functionResponse && { functionResponse: namesOf(functionResponse) }),
  }));
  return {
    seq,
    id,
    author,
    branch,
    invocationId,
    timestamp,
    ...(longRunningToolIds && { longRunningToolIds }),
    ...(parts && { content: { ...content, parts } }),
    actions: { stateDelta: {} },
  };
}

function namesOf({ id, name }: FunctionCall | FunctionResponse): { readonly id?: string; readonly name?: string } {
  return { ...(id && { id }), ...(name && { name }) };
}
