import { SessionNotFoundError } from '../../sessions/domain/errors/errors.js';
import type { CommandContext } from '../command-context.js';
import { eventLine } from '../event-line.js';
import { shown, time } from '../output.js';

/** Options of `show`. */
export interface ShowOptions {
  readonly state?: boolean | undefined;
  readonly events: boolean;
}

const PAGE = 200;

/** Shows a session, and its whole log. */
export async function show(
  context: CommandContext,
  { state, events: withEvents }: ShowOptions,
  appName: string,
  userId: string,
  sessionId: string,
): Promise<void> {
  const { output } = context;
  const service = await context.sessions();
  const session = await service.getSession({ appName, userId, sessionId, config: { numRecentEvents: 0 } });
  if (!session) throw new SessionNotFoundError(sessionId);
  const { createTime, lastUpdateTime, version, conversationCount, metadata } = session;
  const values = state ? session.state.toRecord() : undefined;
  const about = { appName, userId, sessionId, createTime, lastUpdateTime, version, conversationCount, metadata };
  const lines = [
    `session ${appName} / ${userId} / ${sessionId}`,
    `created ${time(createTime)}, updated ${time(lastUpdateTime)}, ${version} events, ${conversationCount} messages`,
    ...(values ? Object.entries(values).map(([key, value]) => `state   ${key} = ${JSON.stringify(value)}`) : []),
  ];
  await output.result(lines.map(shown).join('\n'), { ...about, ...(values && { state: values }) });
  if (!withEvents) return;
  let cursor: string | undefined;
  do {
    const page = await service.listEvents({ appName, userId, sessionId, limit: PAGE, cursor });
    for (const event of page.events) await output.result(eventLine(event), event);
    cursor = page.nextCursor;
    context.signal.throwIfAborted();
  } while (cursor !== undefined);
}
