import { losingNextCommitResponse } from './commit-faults.js';
import type { SqlServerName } from './sql-servers.js';
import type { Piece, Verdict } from './tcp-proxy.js';

/** Matches the payload of a summary only, also with escaped quotes. */
export const SUMMARY_PAYLOAD = /\\*"compaction\\*":\{\\*"fromSeq/;

/** A filter that passes the write of the next summary and breaks the connection instead of passing its response. */
export function losingSummaryResponse(server: SqlServerName | 'redis'): (piece: Piece) => Verdict {
  const filterOfServer = FILTERS[server]();
  let isSent = false;
  return (piece) => {
    isSent ||= piece.from === 'client' && SUMMARY_PAYLOAD.test(piece.data.toString('latin1'));
    return isSent ? filterOfServer(piece) : 'pass';
  };
}

const FILTERS: Readonly<Record<SqlServerName | 'redis', () => (piece: Piece) => Verdict>> = {
  redis: () => cuttingNextResponse(),
  mariadb: () => losingNextCommitResponse('mariadb'),
  // One statement writes a summary if no other session is written with it; otherwise a COMMIT follows.
  postgres: () => cuttingNextResponse((data) => /UPDATE \d|INSERT 0/.test(data) && !data.includes('COMMIT')),
};

/**
 * For the first connection that sends data.
 *
 * @param isBefore whether an answer is to an earlier statement
 */
function cuttingNextResponse(isBefore = (_data: string): boolean => false): (piece: Piece) => Verdict {
  let connection: number | undefined;
  let isOver = false;
  return (piece) => {
    connection ??= piece.connection;
    if (isOver || piece.from === 'client' || piece.connection !== connection) return 'pass';
    if (isBefore(piece.data.toString('latin1'))) return 'pass';
    isOver = true;
    return 'cut';
  };
}
