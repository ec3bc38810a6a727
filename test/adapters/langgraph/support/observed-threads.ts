import { isBaseMessage } from '@langchain/core/messages';
import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { StateSnapshot } from '@langchain/langgraph';

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g;
/** Fields that differ each time, or only hold such ids. */
const RANDOM = new Set([
  'id',
  'ns',
  'thread_id',
  'checkpoint_id',
  'checkpoint_ns',
  'run_id',
  'parents',
  'langgraph_request_id',
  'stack',
]);

/** A value without ids, so that two runs of the same graph can be compared. */
export function withoutIds(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(ID, '<id>');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutIds);
  if (value instanceof Error) return { error: value.name, message: withoutIds(value.message) };
  if (isBaseMessage(value)) return { [value.getType()]: value.text };
  const fields = Object.entries(value).filter(([name, field]) => !RANDOM.has(name) && field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutIds(field)]));
}

/** What a saver shows of a thread: each namespace with its checkpoints, newest first, and the writes to them. */
export async function threadIn(saver: BaseCheckpointSaver, threadId: string): Promise<unknown[]> {
  const namespaces = new Map<string, CheckpointTuple[]>();
  for await (const tuple of saver.list({ configurable: { thread_id: threadId } })) {
    const ns = String(tuple.config.configurable?.checkpoint_ns);
    namespaces.set(ns, [...(namespaces.get(ns) ?? []), tuple]);
  }
  const shown: unknown[] = [];
  for (const [ns, tuples] of namespaces) {
    const newest = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: ns } });
    shown.push({
      ns: withoutIds(ns),
      newest: tuples.findIndex(({ checkpoint }) => checkpoint.id === newest?.checkpoint.id),
      checkpoints: tuples.map((tuple) => shownTuple(tuple, tuples)),
    });
  }
  // Tasks of one step have namespaces in any order.
  return sorted(shown);
}

function shownTuple(
  { checkpoint, metadata, parentConfig, pendingWrites = [] }: CheckpointTuple,
  all: CheckpointTuple[],
) {
  const parent: unknown = parentConfig?.configurable?.checkpoint_id;
  return {
    source: metadata?.source,
    step: metadata?.step,
    parent: parent === undefined ? undefined : all.findIndex(({ checkpoint: { id } }) => id === parent),
    values: withoutIds(checkpoint.channel_values),
    writes: shownWrites(pendingWrites),
  };
}

function shownWrites(writes: NonNullable<CheckpointTuple['pendingWrites']>): unknown[] {
  const tasks = new Map<string, unknown[]>();
  for (const [task, channel, value] of writes)
    tasks.set(task, [...(tasks.get(task) ?? []), [channel, withoutIds(value)]]);
  return sorted([...tasks.values()]);
}

/** What a graph shows of a state. */
export function shownSnapshot({ values, next, tasks, metadata }: StateSnapshot): unknown {
  return {
    values: withoutIds(values),
    next,
    source: metadata?.source,
    step: metadata?.step,
    tasks: sorted(
      tasks.map(({ name, error, interrupts, result, state }) => ({
        name,
        error: withoutIds(error),
        interrupts: withoutIds(interrupts),
        result: withoutIds(result),
        ...(state && 'values' in state && { state: shownSnapshot(state) }),
      })),
    ),
  };
}

function sorted(items: readonly unknown[]): unknown[] {
  return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
