import type { SessionMarks } from '../../src/sessions/storage/coordination.js';
import type { EntryStore } from '../../src/sessions/storage/entry-store.js';
import type { WriteStore } from '../../src/sessions/storage/planned-write.js';
import type { ChangeFeed } from '../../src/sessions/storage/session-changes.js';
import type { SessionStore } from '../../src/sessions/storage/session-store.js';
import type { TransferStore } from '../../src/sessions/storage/transfer-store.js';

type MethodsOf<Part> = {
  [Name in keyof Part]-?: NonNullable<Part[Name]> extends (...args: never) => unknown ? Name : never;
}[keyof Part];

/** All methods of a part: the compiler refuses a list that lacks one. */
function methodsOf<Part>(methods: Record<MethodsOf<Part>, true>): readonly string[] {
  return Object.keys(methods);
}

const OWN = methodsOf<SessionStore>({
  create: true,
  read: true,
  tails: true,
  list: true,
  delete: true,
  readState: true,
  writeState: true,
  readUsage: true,
  purgeExpired: true,
  audit: true,
  groupedEvents: true,
  close: true,
});

/** A store in this process has two other writes instead: see `LocalWriteStore`. */
const PARTS: Record<Exclude<keyof SessionStore, MethodsOf<SessionStore>>, readonly string[]> = {
  writes: methodsOf<WriteStore>({ write: true, hold: true }),
  entries: methodsOf<EntryStore>({ find: true, range: true, write: true, count: true }),
  marks: methodsOf<SessionMarks>({ apps: true, changed: true }),
  feed: methodsOf<ChangeFeed>({ listen: true, listenForConsumers: true }),
  transfer: methodsOf<TransferStore>({ sharedOwners: true, restoreUsage: true, eraseUser: true }),
  isInProcess: [],
  cleansUpByItself: [],
};

it('The port of stores has at most 25 methods, with its parts', () => {
  const all = [...OWN, ...Object.entries(PARTS).flatMap(([part, names]) => names.map((name) => `${part}.${name}`))];
  expect(all.slice(25)).toEqual([]);
});
