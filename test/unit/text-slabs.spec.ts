import { EventLog } from '../../src/sessions/storage/in-memory/event-log.js';
import { type TextPlace, TextSlabs } from '../../src/sessions/storage/in-memory/text-slabs.js';
import { randomNumbers, seed } from '../support/random.js';

const SLAB = 131_072;
const KINDS = ['plain text', 'Grüße', '注文は午後に届きます', '🚚 on its way', 'half \ud83d of a pair', '', '\u0000\n'];

describe('Texts in slabs', () => {
  it('come back as they were given, whatever their characters and their length', () => {
    const slabs = new TextSlabs();
    const texts = [...KINDS, ...KINDS.map((text) => text.repeat(3_000)), 'x'.repeat(SLAB), 'é'.repeat(5 * SLAB)];
    const places = texts.map((text) => slabs.add(text));
    expect(places.map((place) => slabs.at(place).toString())).toEqual(texts);
  });

  it('stay readable for those who have them when they are released', () => {
    const slabs = new TextSlabs();
    const place = slabs.add('kept');
    const text = slabs.at(place);
    slabs.release(place);
    for (let count = 0; count < 1_000; count++) slabs.add('x'.repeat(1_000));
    expect(text.toString()).toBe('kept');
  });

  it('leave nothing behind when all are released', () => {
    const slabs = new TextSlabs();
    const places = Array.from({ length: 1_000 }, (_, number) => slabs.add(`${number} `.repeat(200)));
    for (const place of places) slabs.release(place);
    expect(slabs.bytes.live).toBe(0);
    expect(slabs.bytes.held).toBeLessThanOrEqual(SLAB);
  });

  it(`are moved together when most others are released (seed ${seed})`, () => {
    const random = randomNumbers(seed);
    const slabs = new TextSlabs();
    const kept = new Map<string, TextPlace>();
    for (let number = 0; number < 5_000; number++) {
      const text = `${number}: ${(KINDS[number % KINDS.length] ?? '').repeat(Math.floor(random() * 60))}`;
      kept.set(text, slabs.add(text));
    }
    for (const [text, place] of kept) {
      if (random() < 0.1) continue;
      slabs.release(place);
      kept.delete(text);
    }
    expect(slabs.bytes.held).toBeGreaterThan(4 * slabs.bytes.live);

    expect(slabs.beginSweep()).toBe(true);
    expect(slabs.beginSweep()).toBe(false);
    for (const [text, place] of kept) kept.set(text, slabs.moved(place));
    for (const [text, place] of kept) expect(slabs.moved(place)).toBe(kept.get(text));
    slabs.endSweep();
    for (const [text, place] of kept) expect(slabs.at(place).toString()).toBe(text);
    expect(slabs.bytes.held).toBeLessThanOrEqual(slabs.bytes.live + 2 * SLAB);
    expect(slabs.beginSweep()).toBe(false);
  });

  it('of a log move with it, except those of trimmed events', () => {
    const slabs = new TextSlabs();
    const other = new EventLog(slabs);
    const log = new EventLog(slabs);
    const payloads = Array.from({ length: 300 }, (_, number) =>
      JSON.stringify({ number, actions: { stateDelta: {} } }),
    );
    payloads.forEach((payload, index) => {
      const event = { timestamp: 1, anchor: false, appendedAt: 1, highWater: 1 };
      log.add({ ...event, id: `e-${index}`, payload });
      other.add({ ...event, id: `e-${index}`, payload: 'x'.repeat(8_000) });
    });
    log.forgetPayloads(
      1,
      Array.from({ length: 100 }, () => 'digest'),
    );
    other.release();
    expect(slabs.beginSweep()).toBe(true);
    for (const _ of log.moveTexts());
    slabs.endSweep();
    const expected = payloads.map((payload, index) => (index < 100 ? null : payload));
    expect(log.entries().map(({ payload }) => payload)).toEqual(expected);
    expect(slabs.bytes.held).toBeLessThanOrEqual(2 * SLAB);
  });
});
