import type { CommandContext } from '../command-context.js';
import { eventLine } from '../event-line.js';

/** Options of `tail`. */
export interface TailOptions {
  readonly from?: number | undefined;
  readonly partials?: boolean | undefined;
}

/** Follows a session until the command is interrupted or the session ends. */
export async function tail(
  context: CommandContext,
  { from, partials }: TailOptions,
  appName: string,
  userId: string,
  sessionId: string,
): Promise<void> {
  const service = await context.sessions();
  const afterSeq = from === undefined ? undefined : Math.max(0, from - 1);
  const { signal } = context;
  for await (const event of service.watch({ appName, userId, sessionId, afterSeq, partials, signal })) {
    await context.output.result(eventLine(event), event);
  }
}
