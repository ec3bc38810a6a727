import { hash } from 'node:crypto';
import { RESERVED } from '../../adapter.js';
import type { MetadataDelta, SessionFilter, SessionMetadata } from '../../index.js';
import { toTextOrEmpty } from '../shared/given-json.js';
import type { TaskJson } from './task-json.js';
import type { HeadChange } from './task-records.js';

/** Metadata of the session of a task, by which tasks are listed without a look at their logs. */
const TASK = `${RESERVED.metadata.agents}a2a`;
const CONTEXT = `${RESERVED.metadata.agents}a2a-context`;
const STATE = `${RESERVED.metadata.agents}a2a-state`;
const TIME = `${RESERVED.metadata.agents}a2a-time`;

/** The metadata after a change of the task. */
export function headLabels({ contextId, status }: HeadChange, next: TaskJson): MetadataDelta {
  return {
    labels: {
      [TASK]: 'task',
      ...(contextId !== undefined && { [CONTEXT]: contextId === '' ? null : hashContextId(contextId) }),
      ...(status && { [STATE]: toTextOrEmpty(status.state) || null }),
    },
    ...(status && { fields: { [TIME]: toTextOrEmpty(next.status?.timestamp) } }),
  };
}

/** Which tasks are wanted. */
export interface WantedTasks {
  readonly contextId?: string | undefined;
  /** The name of a state. */
  readonly state?: string | undefined;
}

export function labelFilter({ contextId, state }: WantedTasks): SessionFilter {
  return {
    labels: {
      [TASK]: 'task',
      ...(contextId && { [CONTEXT]: hashContextId(contextId) }),
      ...(state !== undefined && { [STATE]: state }),
    },
  };
}

/** The time of the status, as the task has it. */
export function readStatusTime({ fields }: SessionMetadata): string {
  return toTextOrEmpty(fields[TIME]);
}

/** Labels are short, and are not encrypted. */
function hashContextId(contextId: string): string {
  return hash('sha256', contextId);
}
