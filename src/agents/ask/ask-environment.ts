import type { Semaphore } from '../../sessions/storage/semaphore.js';
import type { AgentEnvironment } from '../turn/agent-environment.js';
import type { RunPlaces } from './run-limits.js';
import type { WaitingMemory } from './waiting-memory.js';

/** What requests need besides: how many may work and wait. */
export interface AskEnvironment extends AgentEnvironment {
  readonly runs: RunPlaces;
  readonly waitingMemory: WaitingMemory;
  /** Lets few at a time load the session that their result has. */
  readonly loads: Semaphore;
}
