import { inCommits, isSessionChanged, retryOvertaken } from '../../adapter.js';
import { type EventInput, type SessionKey, SessionNotFoundError, type SessionService } from '../../index.js';
import type { TaskJson } from './task-json.js';
import { headLabels } from './task-labels.js';
import type { ReadTask, TaskLogs } from './task-logs.js';
import { type KnownTask, type TaskChanges, changesOf } from './task-merge.js';
import { artifactEvent, messageEvent, withHead } from './task-records.js';

/** Appends what is new in a task: in several commits if it is much, the task itself in the last one. */
export class TaskWriter {
  /** @param agent author of what users did not say */
  constructor(
    private readonly sessions: SessionService,
    private readonly logs: TaskLogs,
    private readonly agent: string,
  ) {}

  /**
   * Appends what the writer changed, if nothing was appended since the task was read; else it reads again.
   *
   * @throws SessionNotFoundError if the task was deleted since the writer read it
   * @throws StaleSessionError if others always came first
   */
  async write(key: SessionKey, next: TaskJson, known: KnownTask): Promise<void> {
    const isThere = await retryOvertaken(async (attempt) => {
      const read = (attempt === 1 ? this.logs.known(key) : undefined) ?? (await this.logs.read(key));
      if (!read && known?.task) return false;
      try {
        await this.#append(key, read ?? (await this.#create(key)), next, known);
        return true;
      } catch (error) {
        this.logs.forget(key);
        throw error;
      }
    }, isSessionChanged);
    if (!isThere) throw new SessionNotFoundError(key.sessionId);
  }

  async #append(key: SessionKey, read: ReadTask, next: TaskJson, known: KnownTask): Promise<void> {
    const events = this.#eventsOf(changesOf(next, read.task, known), next);
    let { seq } = read;
    for (const batch of inCommits(events)) {
      const { appName, userId, sessionId: id } = key;
      const stored = await this.sessions.appendEvents({
        session: { appName, userId, id },
        events: batch,
        expectedVersion: seq,
      });
      this.logs.learn(key, seq, stored);
      seq = stored.at(-1)?.seq ?? seq;
    }
  }

  #eventsOf({ messages, artifacts, head }: TaskChanges, next: TaskJson): EventInput[] {
    const events = [
      ...messages.map((change) => messageEvent(change, this.agent)),
      ...artifacts.map((change) => artifactEvent(change, this.agent)),
    ];
    if (!head) return events;
    const all = withHead(events, head, this.agent);
    const last = all.at(-1);
    return last ? [...all.slice(0, -1), { ...last, actions: { metadataDelta: headLabels(head, next) } }] : all;
  }

  async #create(key: SessionKey): Promise<ReadTask> {
    const { version } = await this.sessions.getOrCreateSession(key);
    return version === 0 ? { seq: 0, task: undefined } : ((await this.logs.read(key)) ?? { seq: 0, task: undefined });
  }
}
