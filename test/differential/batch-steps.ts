import type { AppendEventsResult } from '../../src/index.js';
import { type Conditions, conditionsOf, mutate, variationOf, withControl, withRequest } from './append-steps.js';
import { type LockStep, type ResolvedTarget, same } from './lock-step.js';
import type { GivenEvent } from './model/entries.js';
import type { AppendedEntries } from './model/model.js';
import { type Outcome, seen, seenEntry, seenEvent } from './observations.js';
import type { AppendBatch, RepeatBatch } from './operations.js';

export async function appendBatch(step: LockStep, operation: AppendBatch): Promise<void> {
  const target = step.resolve(operation.target);
  const lastSeq = step.model.store.live(target.key)?.lastSeq ?? 0;
  const drafts = operation.events.map((draft) => withRequest(step.draftOf(draft), draft, lastSeq));
  // A rewind may only come first.
  const place = operation.control && 'rewind' in operation.control ? 0 : drafts.length - 1;
  const given = drafts.map((event, index) =>
    index === place ? withControl(event, operation.control, lastSeq) : event,
  );
  await submit(step, target, given, conditionsOf(step, operation, target));
}

/** Submits events of the log once more, as they were or changed, alone or together with a new one. */
export async function repeatBatch(step: LockStep, operation: RepeatBatch): Promise<void> {
  const { place, count, variation, inOrder, another } = operation;
  const target = step.resolve(operation.target);
  const log = step.model.store.live(target.key)?.log ?? [];
  const start = log.length === 0 ? 0 : place % log.length;
  const given = log.slice(start, start + count).flatMap((entry) => {
    const original = variation === 'as returned' ? entry.event : step.given.get(entry.event);
    return original ? [{ ...variationOf(original, variation), id: entry.event.id, seq: entry.seq }] : [];
  });
  if (!inOrder) given.reverse();
  const all = another ? [...given, step.draftOf(another)] : given;
  await submit(step, target, all, conditionsOf(step, operation, target));
}

async function submit(
  step: LockStep,
  { key, pair, session }: ResolvedTarget,
  given: readonly GivenEvent[],
  conditions: Conditions,
): Promise<void> {
  const kept = given.map((event) => structuredClone(event));
  const { real, model } = await step.both(
    () => step.service.appendBatch({ session, events: given as readonly object[], ...conditions.real }),
    (result) =>
      step.model.appendAll({
        target: pair?.model ?? key,
        given: kept.filter(({ partial }) => !partial),
        ...conditions.model,
        assignedIds: storedOf(result).map(({ id }) => id ?? 'none'),
      }),
    compareAppends,
  );
  for (const [index, event] of (real?.events ?? []).entries()) {
    if (given[index]?.partial) same(Object.is(event, given[index]), true, 'partial event');
  }
  if (model && !model.duplicate) {
    const submitted = kept.filter(({ partial }) => !partial);
    for (const [index, { event }] of model.entries.entries()) step.given.set(event, submitted[index] ?? {});
  }
  for (const event of [...given, ...storedOf(real)]) mutate(event);
  if (pair) step.checkPair(pair);
}

function storedOf(result: AppendEventsResult | undefined): GivenEvent[] {
  return (result?.events ?? []).filter(({ partial }) => !partial) as object[] as GivenEvent[];
}

function compareAppends(real: Outcome<AppendEventsResult>, model: Outcome<AppendedEntries>): void {
  same(
    seen(real, (result) => [storedOf(result).map(seenEvent), result.duplicate]),
    seen(model, ({ entries, duplicate }) => [entries.map(seenEntry), duplicate]),
    'batch',
  );
}
