import { type LockStep, same } from './lock-step.js';
import { seen, seenObject, seenSession } from './observations.js';
import type { Fork } from './operations.js';

/** The fork gets the id of another session of the user, or a generated one. */
export async function fork(step: LockStep, { key, newKey, isBlank, atSeq }: Fork): Promise<void> {
  const lastSeq = step.model.store.live(key)?.lastSeq ?? 0;
  const moment = atSeq === undefined ? undefined : atSeq % (lastSeq + 2);
  const newSessionId = isBlank ? '' : newKey.sessionId;
  const { real, model } = await step.both(
    () => step.service.forkSession({ ...key, atSeq: moment, newSessionId }),
    (forked) => step.model.fork(key, { ...key, sessionId: forked?.id ?? newSessionId }, moment),
    (forked, expected) => {
      const objectSeen = seen(expected, (object) => seenObject(object, true));
      same(
        seen(forked, (session) => seenSession(session, true)),
        objectSeen,
        'fork',
      );
    },
  );
  if (real && model) step.hold({ real, model });
}
