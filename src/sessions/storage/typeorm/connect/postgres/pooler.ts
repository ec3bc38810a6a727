import { ConfigurationError } from '../../../../../config/configuration-error.js';
import { withTimeout } from '../../../../domain/process/timeouts.js';
import { isOwnProcess, type ListeningClient } from '../../live/postgres-listener.js';
import type { RunQuery } from '../server-kind.js';

/** The process that answers, and the database: no two servers have started in the same microsecond. */
const WHERE = `SELECT pg_backend_pid() AS pid, concat_ws(' ', pg_postmaster_start_time(), oid) AS place
  FROM pg_database WHERE datname = current_database()`;

interface Where {
  readonly pid: number;
  readonly place: string;
}

/**
 * Connects to where notifications are to come from.
 *
 * @throws ConfigurationError if none of the database of `runQuery` would arrive there
 */
export async function checkListenUrl(
  client: ListeningClient,
  runQuery: RunQuery,
  late: () => Error,
  timeLimitMs: number,
): Promise<void> {
  try {
    await client.connect();
    const { rows } = await withTimeout(timeLimitMs, client.query(WHERE), late);
    if (!isOwnProcess(rows, client)) {
      throw new ConfigurationError([
        'The listenUrl leads to a pooler, which delivers no notifications: give the url of PostgreSQL itself, or leave it out.',
      ]);
    }
    const [there] = rows as readonly Where[];
    const [here] = await withTimeout(timeLimitMs, runQuery<Where>(WHERE), late);
    if (there?.place === here?.place) return;
    throw new ConfigurationError([
      'The listenUrl leads to another database than the url, where no notification arrives: give the url of the same one without the pooler.',
    ]);
  } finally {
    // An error while closing does not matter.
    client.end().catch(() => undefined);
  }
}

/** The part of TypeORM's driver that is used here: the pool of `pg`. Undefined when closed. */
interface PooledDriver {
  readonly master?: {
    connect(): Promise<Pick<ListeningClient, 'processID' | 'query'> & { release(isBroken?: boolean): void }>;
  };
}

const LIMITS = `SELECT pg_backend_pid() AS pid, current_setting('lock_timeout') AS lock,
  current_setting('idle_in_transaction_session_timeout') AS idle`;

const POOLER_UNSAID =
  'A pooler is in front of PostgreSQL, and no setting says so: set pooler to transaction (SESSIONS_DATABASE_POOLER), and for notifications a listenUrl.';

/**
 * What about the connections of a pool endangers sessions.
 *
 * @param canBeSaid whether the store has a setting for a pooler, which is not set
 */
export async function poolerWarnings(
  driver: object,
  { canBeSaid, late, timeLimitMs }: { canBeSaid: boolean; late: () => Error; timeLimitMs: number },
): Promise<readonly string[]> {
  const client = await (driver as PooledDriver).master?.connect();
  if (!client) return [];
  let isBroken = true;
  try {
    const { rows } = await withTimeout(timeLimitMs, client.query(LIMITS), late);
    isBroken = false;
    const [{ lock, idle } = { lock: '', idle: '' }] = rows as readonly { lock: string; idle: string }[];
    return [
      ...(canBeSaid && !isOwnProcess(rows, client) ? [POOLER_UNSAID] : []),
      ...(lock === '0' ? [unlimited('lock_timeout', '1s')] : []),
      ...(idle === '0' ? [unlimited('idle_in_transaction_session_timeout', '10s')] : []),
    ];
  } finally {
    client.release(isBroken);
  }
}

function unlimited(name: string, value: string): string {
  return `The user of PostgreSQL has no ${name}, so that locks of an instance that stopped answering stay: ALTER ROLE … SET ${name} = '${value}'.`;
}
