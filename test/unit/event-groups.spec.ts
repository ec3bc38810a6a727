import { EventGroups } from '../../src/sessions/storage/event-groups.js';
import { randomNumbers, seed } from '../support/random.js';

describe('The events of a log by group', () => {
  it(`are found in both directions from any event, also if groups alternate (seed ${seed})`, () => {
    const random = randomNumbers(seed);
    const below = (limit: number): number => Math.floor(random() * limit);
    const groups = new EventGroups();
    const log: string[] = [];
    let group = '';
    for (let seq = 1; seq <= 400; seq++) {
      if (below(3) === 0) group = below(4) === 0 ? '' : `g-${below(8)}`;
      log.push(group);
      groups.add(group, seq);
    }
    for (let search = 0; search < 4_000; search++) {
      const wanted = `g-${below(9)}`;
      const from = below(402);
      const seqs = log.flatMap((name, index) => (name === wanted ? [index + 1] : []));
      expect(groups.find({ group: wanted, direction: 'next', from })).toBe(seqs.find((seq) => seq >= from) ?? 0);
      expect(groups.find({ group: wanted, direction: 'previous', from })).toBe(
        seqs.findLast((seq) => seq <= from) ?? 0,
      );
    }
  });
});
