import { type ComponentPlace, componentSessionDigest } from '../../domain/stored/component.js';
import { groupOfDigest, spaceInGroup } from '../../storage/entry-groups.js';
import type { EntryPlace } from '../../storage/entry-store.js';

/** The spaces of a group. */
export interface ComponentSpaces {
  /** The head of each session, under its id. It expires with the session. */
  readonly heads: string;
  /** Sessions to look at, under their ids: what is there may have expired, or be garbage. The rank says when. */
  readonly due: string;
  /** The parts of sessions: a head of each value and each list. */
  readonly parts: string;
  /** The texts that a part has no room for. */
  readonly texts: string;
}

/** Where the parts and texts of a session are. */
export interface PlacesOfParts {
  readonly spaces: ComponentSpaces;
  /** How their names begin. */
  readonly prefix: string;
}

/** Where a session of components is. All of its entries are in one group. */
export interface SessionPlaces extends PlacesOfParts {
  readonly session: string;
  readonly head: EntryPlace;
  readonly due: EntryPlace;
}

export function spacesOf(group: number): ComponentSpaces {
  const space = (kind: string): string => spaceInGroup(group, kind);
  return {
    heads: space('component-sessions'),
    due: space('components-due'),
    parts: space('components'),
    texts: space('component-texts'),
  };
}

/** @param groups over how many groups the store spreads sessions */
export function placesOf(session: string, groups: number): SessionPlaces {
  const digest = componentSessionDigest(session);
  const spaces = spacesOf(groupOfDigest(digest, groups));
  return {
    session,
    spaces,
    head: { space: spaces.heads, name: session },
    due: { space: spaces.due, name: session },
    prefix: `${digest.toString('base64url')} `,
  };
}

const LETTERS = { value: 'v', list: 'l' } as const;

export function placeOfPart(
  { spaces, prefix }: SessionPlaces,
  { name, kind }: Omit<ComponentPlace, 'session'>,
): EntryPlace {
  return { space: spaces.parts, name: `${prefix}${LETTERS[kind]} ${name}` };
}

/** A place of a part whose texts nobody needs any more. It is none of a value or a list. */
export function placeOfGarbage({ spaces, prefix }: SessionPlaces, stamp: number): EntryPlace {
  return { space: spaces.parts, name: `${prefix}g ${stamp}` };
}

/** What a part is of, by the name of its entry; `undefined` for garbage. */
export function componentAt(session: string, { name }: Pick<EntryPlace, 'name'>): ComponentPlace | undefined {
  const [, letter, component = ''] = /^\S+ (\S) (.*)$/s.exec(name) ?? [];
  if (letter === LETTERS.value) return { session, name: component, kind: 'value' };
  return letter === LETTERS.list ? { session, name: component, kind: 'list' } : undefined;
}

/** @param generation the stamp of the texts that were begun together */
export function placeOfText({ spaces, prefix }: PlacesOfParts, generation: number, index: number): EntryPlace {
  return { space: spaces.texts, name: `${prefix}${generation} ${index}` };
}
