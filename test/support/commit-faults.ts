import type { SqlServerName } from './sql-servers.js';
import type { Piece, Verdict } from './tcp-proxy.js';

/** Whether a client sends COMMIT. */
export function isCommitRequest({ from, data }: Piece): boolean {
  // But not READ COMMITTED.
  return from === 'client' && /COMMIT(?!TED)/.test(data.toString('latin1'));
}

/** Whether a server confirms a commit and all statements before it. */
function isCommitResponse(server: SqlServerName, { from, data }: Piece): boolean {
  if (from === 'client') return false;
  return server === 'postgres' ? data.includes('COMMIT\0') : hasLastOk(data);
}

/** A filter that drops all responses after a client has sent COMMIT. */
export function droppingCommitResponses(): (piece: Piece) => Verdict {
  const asked = new Set<number>();
  return (piece) => {
    if (isCommitRequest(piece)) asked.add(piece.connection);
    return piece.from === 'server' && asked.has(piece.connection) ? 'drop' : 'pass';
  };
}

/** A filter that passes the next commit and breaks the connection instead of passing its response. */
export function losingNextCommitResponse(server: SqlServerName): (piece: Piece) => Verdict {
  let connection: number | undefined;
  let isOver = false;
  return (piece) => {
    if (isOver) return 'pass';
    if (isCommitRequest(piece)) connection ??= piece.connection;
    if (piece.from === 'client' || piece.connection !== connection) return 'pass';
    if (!isCommitResponse(server, piece)) return 'drop';
    isOver = true;
    return 'cut';
  };
}

const MORE_RESULTS = 8;

/** Whether there is an OK packet of MySQL's protocol without further results. */
function hasLastOk(data: Buffer): boolean {
  for (let start = 0; start + 4 < data.length; start += 4 + data.readUIntLE(start, 3)) {
    if (data[start + 4] !== 0) continue;
    const afterRows = afterNumber(data, start + 5);
    const status = afterNumber(data, afterRows);
    if ((data.readUInt16LE(status) & MORE_RESULTS) === 0) return true;
  }
  return false;
}

/** The end of a number of variable length. */
function afterNumber(data: Buffer, start: number): number {
  const widths: Partial<Record<number, number>> = { 252: 3, 253: 4, 254: 9 };
  return start + (widths[data[start] ?? 0] ?? 1);
}
