/** Replaces each `?` with `$1`, `$2` … The statements contain no other `?`. */
function numberPlaceholders(text: string): string {
  let number = 0;
  return text.replaceAll('?', () => `$${(number += 1)}`);
}

const NUMBERS = new Set([20, 21, 23, 1700]);

/** Parses all numbers, which are safe integers. */
export const columnTypes = {
  getTypeParser: (oid: number): ((text: string) => number | string) => (NUMBERS.has(oid) ? Number : String),
};

/** Longer statements vary in length, so their plans would rarely be reused and would fill the server's memory. */
const MAX_PREPARED_VALUES = 16;
export const MAX_DIRECT_VALUES = 80;

interface NumberedStatement {
  readonly text: string;
  /** Missing for statements that are not worth preparing. */
  readonly name?: string;
}

const preparable = new Map<string, NumberedStatement>();

/** A statement with numbered placeholders, and the name under which it is prepared. */
export function numberedStatement(text: string, values: number, maxPrepared = MAX_PREPARED_VALUES): NumberedStatement {
  if (values === 0 || values > maxPrepared) return { text: numberPlaceholders(text) };
  let statement = preparable.get(text);
  if (!statement) {
    statement = { text: numberPlaceholders(text), name: `agent_sessions_${preparable.size}` };
    preparable.set(text, statement);
  }
  return statement;
}

/** Waits for all promises, and throws the first failure, which explains the later ones. */
export async function awaitAll<const Promises extends readonly Promise<unknown>[]>(
  promises: Promises,
): Promise<{ -readonly [Place in keyof Promises]: Awaited<Promises[Place]> }> {
  const outcomes = await Promise.allSettled(promises);
  const values = outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
  return values as { -readonly [Place in keyof Promises]: Awaited<Promises[Place]> };
}
