import { newRecord } from '../../src/sessions/domain/stored/session-record.js';
import { type Listed, SessionLists } from '../../src/sessions/storage/in-memory/owner-lists.js';
import { SortedList } from '../../src/sessions/storage/in-memory/sorted-list.js';
import type { ListRequest } from '../../src/storage.js';
import { crowd } from '../support/rounds.js';

const LIMIT = 10;
const MAX_EXAMINED = 50;

/** Lists of so many sessions, which count how many of them a page looks at. */
function filledLists(count: number): { examinedBy: (request: Partial<ListRequest>) => number } {
  const lists = new SessionLists<Listed>();
  let examined = 0;
  let isCounting = false;
  for (let number = 0; number < count; number++) {
    const record = newRecord(
      { appName: 'shop', userId: `u-${number % 7}`, sessionId: `s-${number}` },
      'i',
      number,
      10 * count,
    );
    const tags = number % Math.floor(count / 10) === 0 ? 'tag:rare\n\n' : '';
    const seen = new Set<number>();
    const metadata = `status\n"open"\n${number % 2 === 0 ? 'tag:half\n\n' : ''}${tags}`;
    const item = {
      get record() {
        if (isCounting && !seen.has(number)) examined++;
        return record;
      },
      metadata,
    };
    lists.move(item, undefined, { record, metadata });
  }
  return {
    examinedBy(request) {
      examined = 0;
      isCounting = true;
      const { items } = lists.page({ limit: LIMIT, order: 'desc', orderBy: 'lastUpdateTime', ...request }, count);
      isCounting = false;
      expect(items.length).toBeGreaterThan(0);
      return examined;
    },
  };
}

describe.each([1_000, crowd(100_000)])('of %d sessions in memory', (count) => {
  const { examinedBy } = filledLists(count);
  const positions = [undefined, { time: Math.floor(count / 2), userId: 'u-1', sessionId: 's' }];

  it.each(['lastUpdateTime', 'createTime'] as const)('a page by %s looks at its own sessions', (orderBy) => {
    for (const order of ['asc', 'desc'] as const) {
      for (const after of positions) expect(examinedBy({ orderBy, order, after })).toBe(LIMIT);
    }
    expect(examinedBy({ orderBy, withTotal: true, offset: 5 })).toBe(LIMIT + 5);
  });

  it.each(['lastUpdateTime', 'createTime'] as const)('a filtered page by %s looks at few', (orderBy) => {
    const filters = [
      ['status\n"open"'],
      ['tag:half\n'],
      ['status\n"open"', 'tag:half\n'],
      ['tag:half\n', 'tag:rare\n'],
    ];
    for (const entries of filters) {
      const filter = { entries, maxExamined: MAX_EXAMINED };
      for (const after of positions) {
        expect(examinedBy({ orderBy, after, filter })).toBeLessThanOrEqual(3 * MAX_EXAMINED);
      }
    }
  });

  it('a change of the order compares few', () => {
    let compared = 0;
    const numbers = new SortedList<number, number>((a, b) => {
      compared++;
      return a - b;
    });
    for (let number = 0; number < count; number++) numbers.add(number);
    compared = 0;
    numbers.delete(Math.floor(count / 3));
    numbers.add(count);
    // Two binary searches.
    expect(compared).toBeLessThan(2 * 2 * Math.log2(count));
  });
});
