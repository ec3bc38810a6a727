import type { AppendResult, EventInput, Session } from '../../src/index.js';
import { type LockStep, type ResolvedTarget, same } from './lock-step.js';
import type { Entry, GivenEvent } from './model/entries.js';
import type { ModelTurnPart } from './model/turns.js';
import { type Outcome, seen, seenEntry, seenEvent } from './observations.js';
import type { Append, EventDraft, Operation, Repeat, Variation } from './operations.js';

/** The conditions of a write, for both sides. */
export interface Conditions {
  readonly real: { expectedVersion: number | undefined; turn: string | undefined; endTurn: boolean | undefined };
  readonly model: { readonly expectedVersion: number | undefined; readonly turn: ModelTurnPart | undefined };
}

export async function append(step: LockStep, operation: Append): Promise<void> {
  const target = step.resolve(operation.target);
  const lastSeq = step.model.store.live(target.key)?.lastSeq ?? 0;
  const draft = withRequest(step.draftOf(operation.event), operation.event, lastSeq);
  const given = withControl(draft, operation.control, lastSeq);
  await submit(step, target, given, conditionsOf(step, operation, target));
}

/** The version and the turn that a write names. */
export function conditionsOf(
  step: LockStep,
  { expected, turn }: Pick<Append, 'expected' | 'turn'>,
  target: Pick<ResolvedTarget, 'key' | 'pair'>,
): Conditions {
  const expectedVersion = step.versionOf(expected, target);
  const part = step.turnOf(turn, target.key);
  return {
    real: { expectedVersion, turn: part?.token, endTurn: part?.ends },
    model: { expectedVersion, turn: part },
  };
}

/** Submits an event of the log again, unchanged or changed. */
export async function repeat(step: LockStep, operation: Repeat): Promise<void> {
  const target = step.resolve(operation.target);
  const log = step.model.store.live(target.key)?.log ?? [];
  const entry = log[operation.place % log.length];
  if (!entry) return;
  const original = operation.variation === 'as returned' ? entry.event : step.given.get(entry.event);
  if (!original) return;
  const given = { ...variationOf(original, operation.variation), id: entry.event.id, seq: entry.seq };
  await submit(step, target, given, conditionsOf(step, operation, target));
}

export async function updateSession(
  step: LockStep,
  operation: Extract<Operation, { kind: 'update session' }>,
): Promise<void> {
  const pair = step.pairAt(operation.object);
  if (!pair) return;
  const conditions = conditionsOf(step, operation, { key: pair.model.session.key, pair });
  await step.both(
    () => step.service.updateSession(pair.real, conditions.real),
    (event) => step.model.update(pair.model, event?.id ?? 'none', conditions.model),
    (real, model) => {
      const entrySeen = seen(model, (entry) => entry && seenEntry(entry));
      same(
        seen(real, (event) => event && seenEvent(event)),
        entrySeen,
        'update',
      );
    },
  );
  step.checkPair(pair);
}

async function submit(
  step: LockStep,
  { key, pair, session }: ResolvedTarget,
  given: GivenEvent,
  conditions: Conditions,
): Promise<void> {
  if (given.partial) {
    same(
      Object.is(await step.service.appendEvent({ session, event: given as EventInput }), given),
      true,
      'partial event',
    );
    if (pair) step.checkPair(pair);
    return;
  }
  const kept = structuredClone(given);
  const { real, model } = await step.both(
    () => step.service.append({ session, event: given as EventInput, ...conditions.real }),
    (result) => {
      const assignedId = result?.event.id ?? 'none';
      return step.model.append({ target: pair?.model ?? key, given: kept, ...conditions.model, assignedId });
    },
    compareAppends,
  );
  if (model && !model.duplicate) step.given.set(model.event, kept);
  mutate(given);
  if (real) mutate(real.event);
  if (pair) step.checkPair(pair);
}

function compareAppends(real: Outcome<AppendResult>, model: Outcome<Entry & { duplicate: boolean }>): void {
  same(
    seen(real, ({ event, duplicate }) => [seenEvent(event), duplicate]),
    seen(model, (entry) => [seenEntry(entry), entry.duplicate]),
    'append',
  );
}

/** Changes an event that was passed in or returned, because stored events must not be affected. */
export function mutate(event: Session['events'][number] | GivenEvent): void {
  event.author = 'mutated';
  event.content?.parts?.push({ text: 'mutated' });
  if (event.actions?.stateDelta) event.actions.stateDelta['mutated'] = true;
  event.actions?.metadataDelta?.tags?.add?.push('mutated');
}

/** Positions can be one beyond either end of the log, so that some are refused. */
/** What the model of the event was given, of the events that are there. */
export function withRequest(given: GivenEvent, { asked }: EventDraft, lastSeq: number): GivenEvent {
  if (!asked || lastSeq === 0) return given;
  const [from, then] = [(asked[0] % lastSeq) + 1, (asked[2] % lastSeq) + 1];
  const to = Math.min(from + asked[1], lastSeq);
  const isOther = then < from - 1 || then > to + 1;
  return { ...given, modelRequest: { given: [[from, to], ...(isOther ? [[then, then]] : [])] } };
}

export function withControl(given: GivenEvent, control: Append['control'], lastSeq: number): GivenEvent {
  if (!control) return given;
  if ('rewind' in control) {
    const rewind = { toSeq: control.rewind % (lastSeq + 2) };
    return { ...given, actions: { ...given.actions, rewind } };
  }
  const [toSeq, fromSeq] = [control.summary[0] % (lastSeq + 2), control.summary[1] % (lastSeq + 2)];
  const compaction = { fromSeq, toSeq };
  const content = { role: 'user', parts: [{ text: 'In short' }] };
  return { ...given, content, actions: { ...given.actions, compaction } };
}

export function variationOf(given: GivenEvent, variation: Variation): GivenEvent {
  const copy = structuredClone(given);
  if (variation === 'without timestamp') delete copy.timestamp;
  if (variation === 'with another timestamp') copy.timestamp = (copy.timestamp ?? 1e12) + 60_000;
  if (variation.endsWith('timestamp')) return copy;
  if (variation === 'with other content') return { ...copy, author: `${copy.author}, again` };
  if (variation === 'same' || variation === 'as returned' || copy.actions?.compaction) return copy;
  return { ...copy, actions: { ...copy.actions, stateDelta: { ...copy.actions?.stateDelta, 'temp:again': 1 } } };
}
