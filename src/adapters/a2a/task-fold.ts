import { withoutRewound } from '../../adapter.js';
import type { LoggedEvent } from '../../index.js';
import { type Json, toJsonRecord } from '../shared/given-json.js';
import { type TaskJson, omitItemParts, listItemParts } from './task-json.js';
import { type ArtifactChange, type HeadChange, type MessageChange, readTaskStep } from './task-records.js';

/** Makes a task of the events of its log. */
export class TaskFold {
  /** The last event that was added. */
  last: { readonly seq: number; readonly id: string } = { seq: 0, id: '' };
  /** About what it holds. */
  bytes = 0;
  readonly #history: Json[] = [];
  readonly #artifacts: { fields: Json; parts: Json[] }[] = [];
  #contextId: string | undefined;
  #status: Json | undefined;
  #metadata: Json | undefined;

  /** Adds events in the order of the log; those that it knows are skipped. None may be a rewind. */
  add(events: readonly LoggedEvent[]): void {
    for (const event of events) {
      if (event.seq <= this.last.seq) continue;
      this.last = { seq: event.seq, id: event.id };
      this.bytes += Buffer.byteLength(JSON.stringify(event));
      const { message, artifact, head } = readTaskStep(event);
      if (message) this.#addMessage(message);
      if (artifact) this.#addArtifact(artifact);
      if (head) this.#change(head);
    }
  }

  /** Skips events that do not count. */
  skipTo(event: LoggedEvent): void {
    if (event.seq > this.last.seq) this.last = { seq: event.seq, id: event.id };
  }

  /** `undefined` if no task was ever saved to the session. */
  get task(): TaskJson | undefined {
    if (this.#contextId === undefined) return undefined;
    const artifacts = this.#artifacts.map(({ fields, parts }) => ({
      ...fields,
      ...(parts.length > 0 && { parts: [...parts] }),
    }));
    const { at, ...status } = this.#status ?? {};
    const message = typeof at === 'number' ? this.#history[at] : undefined;
    return {
      contextId: this.#contextId,
      status: this.#status && { ...status, ...(message && { message }) },
      metadata: this.#metadata,
      history: [...this.#history],
      artifacts,
    };
  }

  #addMessage({ message, at }: MessageChange): void {
    if (at !== undefined && at in this.#history) this.#history[at] = message;
    else this.#history.push(message);
  }

  #addArtifact({ artifact, at, append }: ArtifactChange): void {
    const known = at === undefined ? undefined : this.#artifacts[at];
    const [fields, parts] = [omitItemParts(artifact), [...listItemParts(artifact)]];
    if (!known) {
      this.#artifacts.push({ fields, parts });
      return;
    }
    known.fields = fields;
    if (append) known.parts.push(...parts);
    else known.parts = parts;
  }

  #change({ contextId, status, metadata }: HeadChange): void {
    this.#contextId = contextId ?? this.#contextId ?? '';
    this.#status = status ?? this.#status;
    if (!metadata) return;
    const kept = Object.entries(this.#metadata ?? {}).filter(([name]) => !metadata.removed.includes(name));
    this.#metadata = Object.fromEntries([...kept, ...Object.entries(toJsonRecord(metadata.set))]);
  }
}

/** The whole log as a task, without what was rewound. */
export function foldLog(events: readonly LoggedEvent[]): TaskFold {
  const fold = new TaskFold();
  fold.add(withoutRewound(events));
  const last = events.at(-1);
  if (last) fold.skipTo(last);
  return fold;
}
