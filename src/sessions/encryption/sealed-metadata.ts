import { InvalidInputError } from '../domain/errors/errors.js';
import { type MetadataChange, type MetadataText, metadataEntries } from '../domain/metadata/metadata-entries.js';
import type { ListFilter } from '../storage/session-list.js';
import type { TextOwner, TextPlace } from './sealed-text.js';
import type { Open, Sealing } from './owner-cipher.js';

/** Whether status, tags and labels are encrypted too. */
export type MetadataMode = 'plain' | 'sealed';

/** How the name of an entry begins whose name is encrypted. No index has it. */
const SEALED = 'sealed:';
/** Labels by which this package finds its own sessions. They have ids and states, and no words. */
const OF_PACKAGE = /^label:(agents:|openai:root(\n|$))/;
const FREE = /^(title$|field:)/;

/** Fields and the title keep their names; of tags and labels, the name says what they are. */
export function sealedChanges(
  changes: readonly MetadataChange[],
  owner: TextOwner,
  { seal, sealEqually }: Sealing,
  mode: MetadataMode,
): MetadataChange[] {
  return changes.flatMap(([name, value]): MetadataChange[] => {
    const sealed = value === null ? null : seal(owner, toMetadataTextPlace(name), value);
    if (FREE.test(name)) return [[name, sealed]];
    if (mode === 'plain' || OF_PACKAGE.test(name)) return [[name, value]];
    return [
      // What was set before the encryption.
      [name, null],
      [SEALED + sealEqually(owner, NAME, name), sealed],
    ];
  });
}

/** Whether the value of a stored entry is encrypted in any mode. */
export function isEncryptedEntry(name: string): boolean {
  return FREE.test(name) || name.startsWith(SEALED);
}

export function sealedMetadata(
  text: MetadataText,
  owner: TextOwner,
  sealing: Sealing,
  mode: MetadataMode,
): MetadataText {
  const changes = sealedChanges([...metadataEntries(text)], owner, sealing, mode);
  return changes.flatMap(([name, value]) => (value === null ? [] : [`${name}\n${value}\n`])).join('');
}

export function openedMetadata(text: MetadataText, owner: TextOwner, open: Open): MetadataText {
  let opened = '';
  for (const [stored, value] of metadataEntries(text)) {
    const isNameSealed = stored.startsWith(SEALED);
    const name = isNameSealed ? open(owner, NAME, stored.slice(SEALED.length)) : stored;
    const isSealed = isNameSealed || FREE.test(name);
    opened += `${name}\n${isSealed ? open(owner, toMetadataTextPlace(name), value) : value}\n`;
  }
  return opened;
}

/** The entries that are not encrypted in any mode. */
export function plainMetadata(text: MetadataText): MetadataText {
  return [...metadataEntries(text)]
    .map(([name, value]) => (isEncryptedEntry(name) ? '' : `${name}\n${value}\n`))
    .join('');
}

/** Whether it has entries whose names are encrypted: status, tags or labels. */
export function hasSealedNames(text: MetadataText): boolean {
  return [...metadataEntries(text).keys()].some((name) => name.startsWith(SEALED));
}

/** Refuses a filter by what the store cannot compare. */
export function checkFilter(filter: ListFilter | undefined, mode: MetadataMode): void {
  if (mode === 'plain' || !filter || filter.entries.every((entry) => OF_PACKAGE.test(entry))) return;
  throw new InvalidInputError(
    'sessions cannot be filtered by status, tags or labels while encryption.metadata is sealed; list them without a filter',
    'filter',
  );
}

const NAME: TextPlace = { field: 'name of metadata', id: '' };

function toMetadataTextPlace(name: string): TextPlace {
  return { field: 'entry of metadata', id: name };
}
