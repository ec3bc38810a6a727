import type { Turn } from '../../src/index.js';
import { type LockStep, same } from './lock-step.js';
import type { ModelKey } from './model/model-session.js';
import type { ModelTurn } from './model/turns.js';
import { type Outcome, seen } from './observations.js';
import type { BeginTurn, ChangeTurn } from './operations.js';

export async function beginTurn(step: LockStep, { key, holder, requestId, ttlMs }: BeginTurn): Promise<void> {
  const request = { holder, requestId, ttlMs };
  const { real } = await step.both(
    () => step.service.beginTurn({ ...key, ...request }),
    (begun) => step.model.beginTurn(key, request, begun?.token ?? 'none'),
    compareTurns,
  );
  if (real) step.holdTurn({ key, token: real.token });
  await compareHolder(step, key);
}

export async function changeTurn(step: LockStep, { kind, which, ttlMs }: ChangeTurn): Promise<void> {
  const turn = step.turnAt(which);
  if (!turn) return;
  const { key, token } = turn;
  if (kind === 'renew turn') {
    await step.both(
      () => step.service.renewTurn({ ...key, token, ttlMs }),
      () => step.model.renewTurn(key, token, ttlMs),
      compareTurns,
    );
  } else {
    await step.both(
      () => step.service.endTurn({ ...key, token }),
      () => step.model.endTurn(key, token),
      (real, model) => same(real, model, kind),
    );
  }
  await compareHolder(step, key);
}

export async function compareHolder(step: LockStep, key: ModelKey): Promise<void> {
  await step.both(
    () => step.service.getTurn(key),
    () => step.model.getTurn(key),
    (real, model) =>
      same(
        seen(real, (holder) => holder && [holder.number, holder.holder, holder.expiresAt]),
        seen(model, (turn) => turn && [turn.number, turn.holder, turn.expiresAt]),
        'holder of the turn',
      ),
  );
}

function compareTurns(real: Outcome<Turn>, model: Outcome<ModelTurn>): void {
  same(seen(real, seenTurn), seen(model, seenTurn), 'turn');
}

function seenTurn({ number, token, holder, expiresAt }: Turn | ModelTurn): unknown {
  return [number, token, holder, expiresAt];
}
