import type { UncheckedWrite } from '../sessions/domain/write/write-description.js';

type Input = Readonly<Record<string, unknown>>;

/** Controls that a policy needs besides the message. */
const CONTROLS: Readonly<Record<string, readonly string[]>> = { interrupt: ['stop'], rollback: ['stop', 'rewind'] };

/** A run writes the message as its user. What the agent writes is not the client's. */
export const RUNS = ({ newMessage, stateDelta, policy, invocationId }: Input): UncheckedWrite => ({
  event: {
    author: 'user',
    invocationId,
    content: typeof newMessage === 'string' ? { parts: [{ text: newMessage }] } : newMessage,
    actions: { stateDelta },
  },
  controls: typeof policy === 'string' && Object.hasOwn(CONTROLS, policy) ? CONTROLS[policy] : [],
});

export const STOPS = (): UncheckedWrite => ({ controls: ['stop'] });

export const APPROVES = (): UncheckedWrite => ({ controls: ['approval'] });
