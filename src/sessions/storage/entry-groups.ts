/**
 * The space of a kind of entries in a group: see `groupOfSpace`.
 *
 * @example spaceInGroup(3, 'components'); // '@3:components'
 */
export function spaceInGroup(group: number, kind: string): string {
  return `@${group}:${kind}`;
}

/** The group of what has this digest, so that entries are spread evenly. */
export function groupOfDigest(digest: Buffer, groups: number): number {
  return digest.readUInt32BE() % groups;
}
