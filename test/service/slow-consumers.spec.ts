import { SessionService } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { ConsumedEvents } from '../support/consumed-events.js';
import { CountingStorage } from '../support/counting-storage.js';
import { holding } from '../support/holding.js';
import { storeOfEachKind } from '../support/stores.js';
import { until } from '../support/until.js';

const USER = { appName: 'shop', userId: 'ann' };
const SESSIONS = 5;
const CONCURRENCY = 2;
/** A page has 25 of them. */
const TEXT = 'x'.repeat(10_000);
const PAGE_BYTES = 262_144;
/** A store may also return the first event that does not fit. */
const EVENT_BYTES = 11_000;

describe.each(storeOfEachKind)('a slow consumer over $name', ({ open }) => {
  let opened: OpenStorage;

  beforeEach(async () => {
    opened = await open({});
  });

  afterEach(() => opened.destroy());

  it('holds one page per session that it works on, however many events wait', async () => {
    const counting = new CountingStorage(opened.storage);
    const consuming = new SessionService({ storage: counting.storage });
    const writing = new SessionService({ storage: opened.storage });
    const ids = Array.from({ length: SESSIONS }, (_, index) => `s-${index}`);
    const append = async (count: number): Promise<void> => {
      for (const id of ids) {
        const event = { author: 'agent', content: { parts: [{ text: TEXT }] } };
        await writing.appendEvents({ session: { ...USER, id }, events: Array.from({ length: count }, () => event) });
      }
    };
    for (const sessionId of ids) await writing.createSession({ ...USER, sessionId });
    const [first] = ids;
    const { held, release } = holding();
    let begun = 0;
    const consumed = await ConsumedEvents.of(consuming, { concurrency: CONCURRENCY }, () => {
      begun++;
      return held;
    });
    const isDispatched = async (): Promise<boolean> => (await writing.consumers.lag('mail'))?.undispatched === 0;
    await append(50);
    await until(async () => begun === CONCURRENCY && (await isDispatched()));
    await append(50);
    await until(isDispatched);
    expect({ begun, sessions: (await writing.consumers.lag('mail'))?.sessions }).toEqual({
      begun: CONCURRENCY,
      sessions: SESSIONS,
    });
    expect(counting.takenBytes()).toBeLessThanOrEqual(CONCURRENCY * (PAGE_BYTES + EVENT_BYTES));

    release();
    await consumed.untilThereAre(SESSIONS * 100);
    expect(consumed.mostAtOnce).toBe(CONCURRENCY);
    const seqs = consumed.events.filter(({ key }) => key.sessionId === first).map(({ event }) => event.seq);
    expect(seqs).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    await consumed.stop();
  });

  it('reads events larger than a page one by one, each of them once', async () => {
    const counting = new CountingStorage(opened.storage);
    const consuming = new SessionService({ storage: counting.storage });
    const writing = new SessionService({ storage: opened.storage });
    await writing.createSession({ ...USER, sessionId: 'large' });
    const event = { author: 'agent', content: { parts: [{ text: 'x'.repeat(300_000) }] } };
    for (let count = 0; count < 20; count++) await writing.appendEvent({ session: { ...USER, id: 'large' }, event });
    const reads: number[] = [];
    const consumed = await ConsumedEvents.of(consuming, { from: 'start' }, () => {
      reads.push(counting.taken().events);
    });
    await consumed.untilThereAre(20);
    await consumed.stop();
    expect(reads).toEqual(Array.from({ length: 20 }, () => 1));
  });
});
