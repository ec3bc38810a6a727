import type { ListRequest } from '../../session-storage.js';
import { NO_SQL, type Sql, sql } from '../sql/sql.js';

/** Matches the sessions of a user or of an app. */
export function ofOwner({ appName, userId }: Pick<ListRequest, 'appName' | 'userId'>, table: Sql): Sql {
  return sql`${table}.app_name = ${appName} ${userId === undefined ? NO_SQL : sql`AND ${table}.user_id = ${userId}`}`;
}

/** Without the user in the list of one user: MariaDB would sort all sessions instead of reading them from an index. */
export function inOrder({ order, userId }: Pick<ListRequest, 'order' | 'userId'>, table: Sql, time: Sql): Sql {
  const direction = order === 'asc' ? sql`ASC` : sql`DESC`;
  const byUser = userId === undefined ? sql`${table}.user_id ${direction},` : NO_SQL;
  return sql`ORDER BY ${time} ${direction}, ${byUser} ${table}.session_id ${direction}`;
}

/** Matches what follows the cursor. Not a tuple comparison, because MySQL would not use an index for it. */
export function afterPosition({ after, order }: Pick<ListRequest, 'after' | 'order'>, table: Sql, time: Sql): Sql {
  if (!after) return NO_SQL;
  const beyond = order === 'asc' ? sql`>` : sql`<`;
  return sql`
    AND ${time} ${beyond}= ${after.time} AND (
      ${time} ${beyond} ${after.time} OR ${table}.user_id ${beyond} ${after.userId}
      OR (${table}.user_id = ${after.userId} AND ${table}.session_id ${beyond} ${after.sessionId})
    )`;
}
