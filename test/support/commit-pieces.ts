import type { SqlServerName } from './sql-servers.js';
import type { Piece, Verdict } from './tcp-proxy.js';

/** Whether a client asks for a commit here. */
export function isCommitAsked({ from, data }: Piece): boolean {
  // Not where somebody only asks for READ COMMITTED.
  return from === 'client' && /COMMIT(?!TED)/.test(data.toString('latin1'));
}

/** Whether a server says here that it did all it was asked to do along with a commit. */
function isCommitDone(server: SqlServerName, { from, data }: Piece): boolean {
  if (from === 'client') return false;
  return server === 'postgres' ? data.includes('COMMIT\0') : hasLastOk(data);
}

/** A judge that keeps back whatever a server says to somebody who asked for a commit. */
export function swallowingAnswersToCommits(): (piece: Piece) => Verdict {
  const asked = new Set<number>();
  return (piece) => {
    if (isCommitAsked(piece)) asked.add(piece.connection);
    return piece.from === 'server' && asked.has(piece.connection) ? 'swallow' : 'pass';
  };
}

/** A judge that lets the next commit happen and keeps the answer back, with the connection cut. */
export function losingNextCommit(server: SqlServerName): (piece: Piece) => Verdict {
  let connection: number | undefined;
  let isOver = false;
  return (piece) => {
    if (isOver) return 'pass';
    if (isCommitAsked(piece)) connection ??= piece.connection;
    if (piece.from === 'client' || piece.connection !== connection) return 'pass';
    if (!isCommitDone(server, piece)) return 'swallow';
    isOver = true;
    return 'cut';
  };
}

const MORE_RESULTS = 8;

/** Whether there is an OK packet of MySQL's protocol after which no other result follows. */
function hasLastOk(data: Buffer): boolean {
  for (let start = 0; start + 4 < data.length; start += 4 + data.readUIntLE(start, 3)) {
    if (data[start + 4] !== 0) continue;
    const afterRows = afterNumber(data, start + 5);
    const status = afterNumber(data, afterRows);
    if ((data.readUInt16LE(status) & MORE_RESULTS) === 0) return true;
  }
  return false;
}

/** Where a number of variable length ends. */
function afterNumber(data: Buffer, start: number): number {
  const widths: Partial<Record<number, number>> = { 252: 3, 253: 4, 254: 9 };
  return start + (widths[data[start] ?? 0] ?? 1);
}
