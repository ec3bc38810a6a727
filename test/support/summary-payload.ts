import { losingNextCommit } from './commit-pieces.js';
import type { SqlServerName } from './sql-servers.js';
import type { Piece, Verdict } from './tcp-proxy.js';

/** What is only in the payload of a summary, as it is or in quotes. */
export const SUMMARY_PAYLOAD = /\\*"compaction\\*":\{\\*"fromSeq/;

/** A judge that lets the next summary be written and keeps the answer back, with the connection cut. */
export function losingAnswerToSummary(server: SqlServerName | 'redis'): (piece: Piece) => Verdict {
  const judgeOfServer = server === 'redis' ? cuttingNextAnswer() : losingNextCommit(server);
  let isSent = false;
  return (piece) => {
    isSent ||= piece.from === 'client' && SUMMARY_PAYLOAD.test(piece.data.toString('latin1'));
    return isSent ? judgeOfServer(piece) : 'pass';
  };
}

/** To the connection that says something first. */
function cuttingNextAnswer(): (piece: Piece) => Verdict {
  let connection: number | undefined;
  let isOver = false;
  return (piece) => {
    connection ??= piece.connection;
    if (isOver || piece.from === 'client' || piece.connection !== connection) return 'pass';
    isOver = true;
    return 'cut';
  };
}
