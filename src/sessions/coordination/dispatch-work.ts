import { NEVER } from '../domain/values/expiry.js';
import type { DispatchRequest, NewWork } from '../storage/coordination.js';
import type { EntryPlace, EntryWrite } from '../storage/entry-store.js';
import { newEntry } from '../storage/new-entry.js';
import { placeOfConsumer } from './consumer-writes.js';
import type { Decision } from './decide.js';
import type { EntryView } from './entry-view.js';
import { entryOfWork, placeOfWork, workIn } from './work-entries.js';

type Dispatch = Pick<DispatchRequest, 'token' | 'work' | 'settings'>;

/** Where the highest token of a dispatcher stands. */
const DISPATCHER: EntryPlace = { space: 'dispatch', name: 'token' };

/** All that a dispatch compares. */
export function placesOfDispatch(dispatch: Dispatch): readonly EntryPlace[] {
  return [DISPATCHER, ...consumersIn(dispatch).map(placeOfConsumer), ...dispatch.work.map(placeOfNewWork)];
}

/** Adds work, unless a later dispatcher was here or the settings have changed. Leaves out consumers that do not exist. */
export function dispatchWork(dispatch: Dispatch, seen: EntryView): Decision<boolean> {
  const { token, work, settings } = dispatch;
  const last = seen.at(DISPATCHER);
  const isLate = last !== undefined && Number(last.text) > token;
  const isChanged = settings !== undefined && seen.at(placeOfConsumer(settings.name))?.text !== settings.expected;
  if (isLate || isChanged) return { answer: () => false };
  const wanted = work.filter(({ consumer }) => seen.at(placeOfConsumer(consumer)));
  return {
    writes: [
      {
        ...DISPATCHER,
        expected: last?.stamp,
        next: last?.text === String(token) ? 'same' : newEntry(String(token), NEVER),
      },
      ...consumersIn(dispatch).map((name) => consumerWrite(name, settings, seen)),
      ...wanted.map((added) => workWrite(added, seen)),
    ],
    ...(wanted.length > 0 && { news: 'work' }),
    answer: () => true,
  };
}

function consumersIn({ work, settings }: Dispatch): readonly string[] {
  return [...new Set([...work.map(({ consumer }) => consumer), ...(settings ? [settings.name] : [])])];
}

/** A consumer must be there, so that none is removed while it gets work. */
function consumerWrite(name: string, settings: Dispatch['settings'], seen: EntryView): EntryWrite {
  const stored = seen.at(placeOfConsumer(name));
  const next = stored && settings?.name === name ? newEntry(settings.next, NEVER, stored.since) : 'same';
  return { ...placeOfConsumer(name), expected: stored?.stamp, next };
}

function workWrite(added: NewWork, seen: EntryView): EntryWrite {
  const place = placeOfNewWork(added);
  const stored = seen.at(place);
  const next = stored
    ? entryOfWork({ ...workIn(stored), upTo: added.upTo }, stored.rank)
    : entryOfWork({ ...added, letterSeq: 0, tries: 0, claim: '', problem: '' }, { inMs: 0 });
  return { ...place, expected: stored?.stamp, next };
}

function placeOfNewWork(added: NewWork): EntryPlace {
  return placeOfWork({ ...added, letterSeq: 0 });
}
