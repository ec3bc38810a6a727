import type { OpenStorage } from '../../src/testing/open-storage.js';
import { append, repeat, updateSession } from './append-steps.js';
import { appendBatch, repeatBatch } from './batch-steps.js';
import { listAllSessions, listEvents, listSessions } from './list-steps.js';
import { type LockStep, same } from './lock-step.js';
import type { Operation } from './operations.js';
import { fork } from './fork-step.js';
import { compareStates } from './state-steps.js';
import { beginTurn, changeTurn, compareHolder } from './turn-steps.js';
import { changeState, create, get, passTime, purge, sharedState, waitForAnEnd } from './session-steps.js';

/** Runs one operation on both sides and compares the results. */
export async function perform(step: LockStep, operation: Operation): Promise<void> {
  switch (operation.kind) {
    case 'create':
    case 'get or create':
      return create(step, operation);
    case 'fork':
      return fork(step, operation);
    case 'get':
      return get(step, operation);
    case 'append':
      return append(step, operation);
    case 'repeat':
      return repeat(step, operation);
    case 'append batch':
      return appendBatch(step, operation);
    case 'repeat batch':
      return repeatBatch(step, operation);
    case 'change state':
      return changeState(step, operation);
    case 'update session':
      return updateSession(step, operation);
    case 'shared state':
      return sharedState(step, operation);
    case 'begin turn':
      return beginTurn(step, operation);
    case 'renew turn':
    case 'end turn':
      return changeTurn(step, operation);
    case 'list sessions':
      return listSessions(step, operation);
    case 'list events':
      return listEvents(step, operation);
    case 'delete':
      await step.service.deleteSession(operation.key);
      return step.model.store.delete(operation.key);
    case 'pass time':
      return passTime(step, operation.ms);
    case 'wait for an end':
      return waitForAnEnd(step, operation);
    case 'purge':
      return purge(step, operation.batchSize);
  }
}

/** Compares all sessions, logs and lists, and checks that nothing else is stored. */
export async function compareAll(step: LockStep, raw: OpenStorage['raw']): Promise<void> {
  for (const pair of step.pairs) step.checkPair(pair);
  const keys = step.model.store.all().map(({ key }) => key);
  for (const key of keys) {
    await listEvents(step, { kind: 'list events', key, limit: 100, order: 'asc' });
    await compareHolder(step, key);
    await compareStates(step, key);
    await get(step, { kind: 'get', key });
  }
  await listAllSessions(step);
  await purge(step, 500);
  const { sessions, events, stateEntries } = await raw();
  same({ sessions, events, stateEntries }, step.model.store.sizes(), 'stored');
}
