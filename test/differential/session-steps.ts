import { explain } from './explain-steps.js';
import { listAllSessions } from './list-steps.js';
import { type LockStep, same } from './lock-step.js';
import { changesOf } from './model/state.js';
import { seen, seenObject, seenSession, sortedEntries } from './observations.js';
import type { Create, Get, Operation } from './operations.js';

type OperationOf<K extends Operation['kind']> = Extract<Operation, { kind: K }>;

export async function create(
  step: LockStep,
  { kind, key, isBlank, state, metadata, turnsOnly }: Create,
): Promise<void> {
  const given = Object.fromEntries(state);
  const request = { ...key, sessionId: isBlank ? ' ' : key.sessionId, state: given, metadata, turnsOnly };
  const isGet = kind === 'get or create';
  const { real, model } = await step.both(
    () => (isGet ? step.service.getOrCreateSession(request) : step.service.createSession(request)),
    (created) => {
      const modelKey = isBlank && created ? { ...key, sessionId: created.id } : key;
      return (isGet && step.model.get(modelKey)) || step.model.create(modelKey, given, metadata, turnsOnly);
    },
    (created, expected) => {
      const objectSeen = seen(expected, (object) => seenObject(object, true));
      same(
        seen(created, (session) => seenSession(session, true)),
        objectSeen,
        kind,
      );
    },
  );
  if (real && model) step.hold({ real, model });
}

export async function get(step: LockStep, { key, config }: Get): Promise<void> {
  const log = step.model.store.live(key)?.log ?? [];
  const since = config?.since === undefined ? undefined : log[config.since % log.length]?.event.timestamp;
  const narrowing = config && {
    ...(config.numRecentEvents !== undefined && { numRecentEvents: config.numRecentEvents }),
    ...(config.afterSeq !== undefined && { afterSeq: config.afterSeq % (log.length + 2) }),
    ...(since !== undefined && { afterTimestamp: since }),
  };
  const { real, model } = await step.both(
    () => step.service.getSession({ ...key, config: narrowing }),
    () => step.model.get(key, narrowing),
    (found, expected) => {
      const objectSeen = seen(expected, (object) => object && seenObject(object, true));
      same(
        seen(found, (session) => session && seenSession(session, true)),
        objectSeen,
        'get',
      );
    },
  );
  if (real && model) step.hold({ real, model });
  await explain(step, key, narrowing ?? {}, model?.shown);
}

export function changeState(step: LockStep, { object, delta, removals }: OperationOf<'change state'>): void {
  const pair = step.pairAt(object);
  if (!pair) return;
  for (const [key, value] of delta.filter(([name]) => name !== 'user:')) {
    pair.real.state[key] = value;
    pair.model.set(key, value);
  }
  for (const key of removals) {
    pair.real.state.delete(key);
    pair.model.remove(key);
  }
  step.checkPair(pair);
}

export async function sharedState(step: LockStep, operation: OperationOf<'shared state'>): Promise<void> {
  const [appName = '', userId] = operation.owner;
  const stateDelta = Object.fromEntries(operation.delta);
  const stateRemovals = [...operation.removals];
  const isChange = operation.delta.length + stateRemovals.length > 0;
  const service = step.service;
  await step.both(
    () => {
      const changes = { appName, stateDelta, stateRemovals };
      if (userId === undefined) return isChange ? service.updateAppState(changes) : service.getAppState({ appName });
      return isChange ? service.updateUserState({ ...changes, userId }) : service.getUserState({ appName, userId });
    },
    () => step.model.sharedState(operation.owner, changesOf({ stateDelta, stateRemovals })),
    (real, model) => {
      const stateSeen = seen(model, (state) => sortedEntries(Object.fromEntries(state)));
      same(seen(real, sortedEntries), stateSeen, 'shared state');
    },
  );
}

/**
 * Never moves the clock back so far that something expired, or too old for a view, becomes live again: the contract
 * does not define that.
 */
export function passTime(step: LockStep, ms: number): void {
  if (ms < 0 && step.model.settings.eventTtlSeconds > 0) return;
  const now = step.clock.time;
  const over = step.model.store.expiries().filter((expiry) => expiry <= now);
  step.clock.time = Math.max(now + ms, ...over);
}

/** Then lists all sessions, which renews nothing. */
export async function waitForAnEnd(step: LockStep, { which, early }: OperationOf<'wait for an end'>): Promise<void> {
  const now = step.clock.time;
  const ends = step.model.store.expiries().filter((expiry) => expiry > now && Number.isFinite(expiry));
  const end = ends.sort((a, b) => a - b)[which % ends.length];
  if (end === undefined) return;
  passTime(step, end - early - now);
  await listAllSessions(step);
}

export async function purge(step: LockStep, batchSize: number): Promise<void> {
  same(await step.service.purgeExpired({ batchSize }), step.model.store.purge(), 'purge');
}
