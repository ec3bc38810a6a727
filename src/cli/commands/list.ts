import type { CommandContext } from '../command-context.js';
import { shown, time } from '../output.js';

/** Options of `list`. */
export interface ListOptions {
  readonly limit?: number | undefined;
  readonly all?: boolean | undefined;
}

const DEFAULT_LIMIT = 100;
const PAGE = 200;

/** Lists apps; or the sessions of an app or a user, newest update first. */
export async function list(
  context: CommandContext,
  { limit, all }: ListOptions,
  appName?: string,
  userId?: string,
): Promise<void> {
  const { output } = context;
  if (appName === undefined) {
    const storage = await context.storage();
    for (const app of await storage.consumers.apps()) await output.result(shown(app), { appName: app });
    return;
  }
  const service = await context.sessions();
  let left = all ? Infinity : (limit ?? DEFAULT_LIMIT);
  let cursor: string | undefined;
  do {
    const page = await service.listSessions({
      appName,
      userId,
      cursor,
      limit: Math.max(1, Math.min(left, PAGE)),
      includeState: false,
    });
    for (const session of page.sessions.slice(0, left)) {
      const { id, createTime, lastUpdateTime, version, conversationCount, metadata, unreadable } = session;
      const { title, status } = metadata;
      const about = [title, status, unreadable].filter((text) => text !== undefined).join(', ');
      const text = `${time(lastUpdateTime)}  ${session.userId}  ${id}  ${version} events  ${about}`;
      const { userId: user } = session;
      await output.result(shown(text.trimEnd()), {
        appName,
        userId: user,
        sessionId: id,
        createTime,
        lastUpdateTime,
        version,
        conversationCount,
        metadata,
        unreadable,
      });
    }
    left -= page.sessions.length;
    cursor = page.nextCursor;
    context.signal.throwIfAborted();
  } while (cursor !== undefined && left > 0);
}
