import { createHash } from 'node:crypto';
import { groupOfDigest, spaceInGroup } from '../storage/entry-groups.js';
import type { EntryPlace } from '../storage/entry-store.js';
import type { TextOwner } from './sealed-text.js';

/** Where the data keys of an owner are. The name says whose they are. */
export type KeyPlace = EntryPlace;

const spaceOf = (group: number): string => spaceInGroup(group, 'data-keys');

/** Tells owners apart. */
export function nameOfOwner({ appName, userId }: TextOwner): string {
  return JSON.stringify([appName, userId].filter((id) => id !== undefined));
}

/** @param groups over how many groups the store spreads entries */
export function placeOfKeys(owner: TextOwner, groups = 1): KeyPlace {
  const name = nameOfOwner(owner);
  const group = groups === 1 ? 0 : groupOfDigest(createHash('sha256').update(name).digest(), groups);
  return { space: spaceOf(group), name };
}

export function spacesOfKeys(groups = 1): string[] {
  return Array.from({ length: groups }, (_, group) => spaceOf(group));
}

export function ownerOfPlace({ name }: KeyPlace): TextOwner {
  const [appName, userId] = JSON.parse(name) as string[];
  return { appName, userId };
}
