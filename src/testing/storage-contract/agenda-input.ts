import { compareBytes } from '../../sessions/domain/values/ids.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import { topic } from '../contract-runner.js';
import { NAMES } from './lease-names.js';
import type { StorageFixture } from './support.js';

const LONG_NAMES = ['x'.repeat(800), `${'x'.repeat(799)}y`, '\ud83d\ude00'.repeat(200), `${'é'.repeat(399)}ab`];
const DAY_MS = 24 * 60 * 60 * 1000;

export const agendaInput = topic<StorageFixture>('input of the agenda', (test) => {
  test('entries with different names are independent', async ({ storage, clock }) => {
    const names = [...NAMES, ...LONG_NAMES].toSorted(compareBytes);
    for (const name of names) await storage.agenda.put(name, 1_000);
    clock.advance(1_000);
    const found = await storage.agenda.due(1_000);
    expect(found).toEqual(names.map((name) => ({ name, dueAt: clock.now() })));
    for (const [index, entry] of found.entries()) {
      if (index % 2 === 0) await storage.agenda.remove(entry);
      else await storage.agenda.put(entry.name, 0);
    }
    expect(await storage.agenda.due(1_000)).toEqual(found.filter((_, index) => index % 2 === 1));
  });

  for (const name of ['', 'x'.repeat(801), 'é'.repeat(401), '\ud83d', 'a\ude00b', 'a\u0000b', 7, null, undefined]) {
    test(`a name like ${shown(name)} is refused`, async ({ storage, clock }) => {
      await expectRefusal(storage.agenda.put(name as string, 0), 'name');
      await expectRefusal(storage.agenda.remove({ name: name as string, dueAt: clock.now() }), 'name');
      expect(await storage.agenda.due(1_000)).toEqual([]);
    });
  }

  for (const inMs of [-1, 0.5, 400 * DAY_MS + 1, NaN, Infinity, '1000', null, undefined]) {
    test(`a delay of ${shown(inMs)} is refused`, async ({ storage, clock }) => {
      await expectRefusal(storage.agenda.put('job', inMs as number), 'inMs');
      clock.advance(401 * DAY_MS);
      expect(await storage.agenda.due(1_000)).toEqual([]);
    });
  }

  for (const dueAt of [0.5, NaN, Infinity, '0', undefined]) {
    test(`an entry that is due at ${shown(dueAt)} is refused`, async ({ storage }) => {
      await expectRefusal(storage.agenda.remove({ name: 'job', dueAt: dueAt as number }), 'dueAt');
    });
  }

  for (const limit of [0, -1, 1.5, 1_001, NaN, Infinity, '10', undefined]) {
    test(`a limit of ${shown(limit)} is refused`, async ({ storage }) => {
      await expectRefusal(storage.agenda.due(limit as number), 'limit');
    });
  }
});

async function expectRefusal(call: Promise<unknown>, path: string): Promise<void> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(error).toMatchObject({ path });
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 20 ? `${text.slice(0, 20)}… (${text.length - 2})` : text;
}
