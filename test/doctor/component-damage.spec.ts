import { ComponentSession } from '../../src/components/index.js';
import { diagnose } from '../../src/doctor/index.js';
import {
  type SessionPlaces,
  placeOfPart,
  placesOf,
} from '../../src/sessions/coordination/components/component-places.js';
import { ManualClock } from '../../src/testing/manual-clock.js';
import type { EntryPlace, SessionStorage } from '../../src/storage.js';
import { testStores } from '../support/stores.js';

const TTL_MS = 3_600_000;
/** Too long for the part itself. */
const LIST = Array.from({ length: 40 }, (_, index) => `${index} ${'x'.repeat(300)}`);

/** The place of a session, of its list, and of the first texts of that. */
function placesIn({ entries }: SessionStorage, session: string): { session: SessionPlaces; list: EntryPlace } {
  const places = placesOf(session, entries.groups ?? 1);
  return { session: places, list: placeOfPart(places, { name: 'notes', kind: 'list' }) };
}

async function removeEntry({ entries }: SessionStorage, place: EntryPlace): Promise<void> {
  const [found] = (await entries.find([place])).entries;
  expect(found).toBeDefined();
  const { space, name } = place;
  expect(await entries.write([{ space, name, expected: found?.stamp, next: undefined }])).toMatchObject({
    kind: 'written',
  });
}

/** The name of a session's only part of a space. */
async function nameIn({ entries }: SessionStorage, space: string, prefix: string): Promise<EntryPlace> {
  const { entries: found } = await entries.range({ space, limit: 1_000 });
  const first = found.find(({ name }) => name.startsWith(prefix));
  return { space, name: first?.name ?? '' };
}

describe.each(testStores.filter(({ name }) => name !== 'memory'))(
  'Damage of components in a $name store',
  ({ open }) => {
    it('is found; what follows from the rest is mended, and data stays', async () => {
      const clock = new ManualClock();
      const { storage, destroy } = await open({ clock });
      try {
        const components = new ComponentSession({ store: storage.components, ttlMs: TTL_MS } as never);
        const lasting = new ComponentSession({ store: storage.components } as never);
        for (const session of ['a', 'b', 'c', 'd', 'e']) await components.saveList(session, 'notes', LIST);
        await lasting.save({ appName: 'shop', userId: 'ann', sessionId: 's-1' }, 'plan', 1);
        const found = async (repair: boolean): Promise<string[]> => {
          const { findings } = await diagnose({ storage, repair, pageSize: 3 });
          return findings
            .map(({ code, detail, repaired }) => `${code} ${detail.replace(/ \(.*/, '')} ${repaired}`)
            .sort();
        };
        expect(await found(true)).toEqual([]);

        const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((session) => placesIn(storage, session));
        if (!a || !b || !c || !d) throw new Error('There are four');
        await removeEntry(storage, a.session.due);
        await removeEntry(storage, await nameIn(storage, b.session.spaces.texts, b.session.prefix));
        await removeEntry(storage, c.session.head);
        await removeEntry(storage, c.session.due);
        await removeEntry(storage, d.list);

        const texts = LIST.length / 13;
        const left = [
          'ORPHAN components of "c": its list "notes" without a head false',
          ...Array.from({ length: Math.floor(texts) }, () => 'ORPHAN texts of no component false'),
          'RECORD_UNREADABLE components of "b": its list "notes" false',
        ].sort();
        const overlooked = 'INDEX_DIFFERS components of "a": would not be removed when it expires';
        expect(await found(false)).toEqual([`${overlooked} false`, ...left]);
        expect(await found(true)).toEqual([`${overlooked} true`, ...left]);
        expect(await found(true)).toEqual(left);
        expect(await components.getList('a', 'notes')).toEqual(LIST);
        await expect(components.getList('b', 'notes')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
        expect(await components.listSessionKeys()).toEqual(['["shop","ann","s-1"]', 'a', 'b', 'd', 'e']);

        // Who saves a damaged list anew, mends it.
        await components.saveList('b', 'notes', ['new']);
        expect(await components.getList('b', 'notes')).toEqual(['new']);
        clock.advance(TTL_MS);
        expect(await components.purgeExpired()).toBe(4);
        expect(await found(false)).toEqual(left.filter((one) => one.startsWith('ORPHAN')));
      } finally {
        await destroy();
      }
    });
  },
);
