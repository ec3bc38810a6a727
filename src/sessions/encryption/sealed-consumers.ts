import type { WorkEntry, WorkProgress } from '../domain/background/consumer-work.js';
import { EncryptionError } from '../domain/errors/encryption-errors.js';
import type { ConsumerStore } from '../storage/coordination.js';
import type { TextPlace } from './sealed-text.js';
import { toUserOwner } from './sealed-writes.js';
import type { Open, Seal, OwnerCipher } from './owner-cipher.js';

/** The consumers of a store, whose errors may quote what they could not handle. */
export function sealedConsumers(consumers: ConsumerStore, cipher: OwnerCipher): ConsumerStore {
  const opened = (entries: readonly WorkEntry[]): Promise<WorkEntry[]> =>
    cipher.opened((open) => entries.map((entry) => ({ ...entry, problem: openedProblem(entry, open) })));
  return {
    apps: () => consumers.apps(),
    changed: (limit) => consumers.changed(limit),
    register: (name, settings) => consumers.register(name, settings),
    list: () => consumers.list(),
    remove: (name, limit) => consumers.remove(name, limit),
    dispatch: (request) => consumers.dispatch(request),
    claim: async (request) => opened(await consumers.claim(request)),
    async note(entry, progress) {
      if (!progress.problem && !progress.letter) return consumers.note(entry, progress);
      const { seal } = await cipher.sealing([toUserOwner(entry.key)]);
      return consumers.note(entry, sealedProgress(entry, progress, seal));
    },
    deadLetters: async (consumer, limit) => opened(await consumers.deadLetters(consumer, limit)),
    resolve: (letter, how) => consumers.resolve(letter, how),
    lag: (consumer) => consumers.lag(consumer),
    removeWorkOn: (user) => consumers.removeWorkOn(user),
  };
}

function sealedProgress(entry: WorkEntry, progress: WorkProgress, seal: Seal): WorkProgress {
  const sealed = (problem: string): string =>
    problem && seal(toUserOwner(entry.key), toProblemTextPlace(entry), problem);
  const { problem, letter } = progress;
  return {
    ...progress,
    ...(problem !== undefined && { problem: sealed(problem) }),
    ...(letter && { letter: { ...letter, problem: sealed(letter.problem) } }),
  };
}

/** Work goes on if nobody can read any more why it failed before. */
function openedProblem(entry: WorkEntry, open: Open): string {
  try {
    return entry.problem && open(toUserOwner(entry.key), toProblemTextPlace(entry), entry.problem);
  } catch (error) {
    if (!(error instanceof EncryptionError)) throw error;
    return error.message;
  }
}

function toProblemTextPlace({ consumer }: WorkEntry): TextPlace {
  return { field: 'problem of a consumer', id: consumer };
}
