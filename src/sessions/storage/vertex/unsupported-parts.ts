import type { Agenda, ConsumerStore, LeaseStore, SessionMarks } from '../coordination.js';
import { UnsupportedByStoreError } from '../../domain/errors/unsupported-error.js';

const FOR_ONE_PROCESS =
  'Vertex AI cannot coordinate processes. If no other process writes these sessions, set vertex.singleProcess (SESSIONS_VERTEX_SINGLE_PROCESS=true).';

export function needsOneProcess(): never {
  throw new UnsupportedByStoreError(FOR_ONE_PROCESS);
}

function cannotConsume(): never {
  throw new UnsupportedByStoreError(
    'Vertex AI cannot mark sessions for consumers. Keep these sessions in another store.',
  );
}

function cannotListApps(): never {
  throw new UnsupportedByStoreError('Vertex AI does not know which apps there are. Name the app.');
}

export function sharedUsageError(): UnsupportedByStoreError {
  return new UnsupportedByStoreError('Vertex AI has no sums of users and apps. Ask for the usage of a session.');
}

/** Leases need a store that can compare and set. */
export const NO_LEASES: LeaseStore = {
  acquire: async () => needsOneProcess(),
  acquireAny: async () => needsOneProcess(),
  renew: async () => needsOneProcess(),
  release: async () => needsOneProcess(),
};

export const NO_AGENDA: Agenda = {
  put: async () => needsOneProcess(),
  due: async () => needsOneProcess(),
  remove: async () => needsOneProcess(),
  removeAll: async () => undefined,
};

/** The dispatcher finds no consumer, and so nothing to do. */
export const NO_CONSUMERS: ConsumerStore & SessionMarks = {
  register: async () => cannotConsume(),
  list: async () => [],
  remove: async () => cannotConsume(),
  apps: async () => cannotListApps(),
  changed: async () => [],
  dispatch: async () => cannotConsume(),
  claim: async () => cannotConsume(),
  note: async () => cannotConsume(),
  deadLetters: async () => cannotConsume(),
  resolve: async () => cannotConsume(),
  lag: async () => cannotConsume(),
  removeWorkOn: async () => undefined,
};
