/** A UTF-16 unit has at most three bytes as JSON, so that a piece fits into an event of the default size. */
const LONGEST_PIECE = 262_144;

/**
 * A text in pieces that fit into events each, never cut between the halves of a surrogate pair.
 *
 * @example for (const piece of textPieces(JSON.stringify(entry))) events.push(pieceEvent(piece));
 */
export function textPieces(text: string): string[] {
  if (text.length <= LONGEST_PIECE) return [text];
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = endOfPiece(text, start);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

function endOfPiece(text: string, start: number): number {
  const end = start + LONGEST_PIECE;
  const before = text.charCodeAt(end - 1);
  return before >= 0xd800 && before < 0xdc00 ? end - 1 : end;
}
