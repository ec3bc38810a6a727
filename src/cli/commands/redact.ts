import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import type { CommandContext } from '../command-context.js';
import { eventLine } from '../event-line.js';

/** Options of `redact`. */
interface RedactOptions {
  readonly reason: string;
  readonly state?: boolean | undefined;
}

/** Replaces what an event says, and names where it may be said again. */
export async function redact(
  context: CommandContext,
  { reason, state }: RedactOptions,
  appName: string,
  userId: string,
  sessionId: string,
  seqText: string,
): Promise<void> {
  if (!/^\d{1,15}$/.test(seqText)) throw new InvalidInputError('must be the number of an event', 'seq');
  const service = await context.sessions();
  const redacted = await service.redactEvent({ appName, userId, sessionId, seq: Number(seqText), reason, state });
  const { event, duplicate, alsoIn } = redacted;
  await context.output.result(`${eventLine(event)}${duplicate ? ' (it was redacted before)' : ''}`, redacted);
  if (alsoIn.length > 0) context.output.note(`events that may say the same: ${alsoIn.join(', ')}`);
  const kept = Object.keys(event.actions.stateDelta);
  if (kept.length > 0) context.output.note(`state that the event still sets: ${kept.join(', ')}; see --state`);
}
