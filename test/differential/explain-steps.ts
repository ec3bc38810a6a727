import type { ViewExplanation } from '../../src/index.js';
import { type LockStep, same } from './lock-step.js';
import type { Entry } from './model/entries.js';
import type { ModelKey, ModelSession } from './model/model-session.js';
import type { Narrowing } from './model/narrowing.js';
import { eventsIn } from './model/requests.js';
import { outcomeOf, seen, valueOf } from './observations.js';

/** Compares why each event is in the view, or not. */
export async function explain(
  step: LockStep,
  key: ModelKey,
  narrowing: Narrowing,
  shown: readonly Entry[] | undefined,
): Promise<void> {
  const explained = await outcomeOf(() => step.service.explainView({ ...key, config: narrowing, limit: 1_000 }));
  const expected = shown ? step.model.explain(key, narrowing, shown) : { code: 'SESSION_NOT_FOUND' };
  same(
    seen(explained, ({ events }) => events.map(({ seq, reason, by }) => [seq, reason, by])),
    expected,
    'explanation',
  );
  if (!shown) return;
  same(
    seen(explained, ({ view }) => [view.stableUntilSeq]),
    [step.model.stableUntil(key, shown)],
    'stable beginning',
  );
  const session = step.model.store.live(key);
  const view = valueOf(explained);
  if (session && view) await explainEarlier(step, session, narrowing, view);
}

/** A view of a session, as it was when its last event was the last one. */
interface EarlierView {
  readonly narrowing: Narrowing;
  readonly explanation: ViewExplanation;
}

/** Every few views, another one is kept to compare with. */
const KEPT_FOR = 5;

/** The last one of a session that was kept, and how often it was compared with. */
const earlierViews = new WeakMap<ModelSession, EarlierView & { uses: number }>();

/** Compares the view of an earlier moment with what it was then. Not with a limit of age: time passes after the last event. */
async function explainEarlier(
  step: LockStep,
  session: ModelSession,
  narrowing: Narrowing,
  explanation: ViewExplanation,
): Promise<void> {
  if (step.model.readFilter().maxAgeMs > 0) return;
  const then = earlierViews.get(session);
  if (!then || ++then.uses > KEPT_FOR) earlierViews.set(session, { narrowing, explanation, uses: 0 });
  if (!then) return;
  const request = { ...session.key, config: then.narrowing, limit: 1_000 };
  const { lastSeq: atSeq } = then.explanation;
  const { events, view } = await step.service.explainView({ ...request, atSeq, since: session.lastSeq });
  const { change, ...whole } = view;
  same([events, whole], [then.explanation.events, then.explanation.view], `the view at ${atSeq}`);
  const now = await step.service.explainView(request);
  const [before, after] = [seqsInView(then.explanation), seqsInView(now)];
  same(eventsIn(change?.added ?? []), without(before, after), 'added');
  same(eventsIn(change?.removed ?? []), without(after, before), 'removed');
}

function seqsInView({ events }: ViewExplanation): number[] {
  return events.filter(({ inView }) => inView).map(({ seq }) => seq);
}

function without(seqs: readonly number[], others: readonly number[]): number[] {
  return seqs.filter((seq) => !others.includes(seq));
}
