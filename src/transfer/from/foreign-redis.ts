/** A node whose keys are listed. */
export interface ForeignRedisNode {
  scan(cursor: string, match: 'MATCH', pattern: string): Promise<[cursor: string, keys: string[]]>;
}

/** The keys of a pattern, each once. */
export async function* scanRedisKeys(nodes: readonly ForeignRedisNode[], pattern: string): AsyncGenerator<string> {
  const seen = new Set<string>();
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', pattern);
      for (const key of keys.toSorted()) {
        if (!seen.has(key)) yield key;
        seen.add(key);
      }
      cursor = next;
    } while (cursor !== '0');
  }
}
