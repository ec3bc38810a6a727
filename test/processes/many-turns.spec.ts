import { SessionService } from '../../src/index.js';
import type { SessionStorage } from '../../src/storage.js';
import { type ManyTurnsOutcome, keyOfTurn, wordsOfTurn } from '../support/processes/many-turns.js';
import { type SharedStore, describeSharedStores } from '../support/processes/shared-stores.js';
import { type StoreDescription, openDescribed } from '../support/processes/store-description.js';
import { savedPieces } from '../support/saved-pieces.js';
import { WorkerProcess } from '../support/processes/worker-process.js';

const TURNS = 1_000;
const WORDS = 3;
/** The pool of a SQL store, and the connection that listens; or the connections of Redis. */
const CONNECTIONS = 10 + 1;
const PEAK_BYTES = 250_000_000;
/** What the driver may send: for a turn without its words, and for the pieces of so many sessions. */
const SENT = {
  redis: { counted: 'scripts', ofTurn: 4, together: 32, ofPortion: 1 },
  postgres: { counted: 'messages', ofTurn: 12, together: 64, ofPortion: 2 },
} as const;
const each = Array.from({ length: TURNS }, (_, turn) => turn);

describeSharedStores(
  '1,000 turns of a process that stream at once on a $name store',
  ({ name, create }) => {
    let store: SharedStore;
    let storage: SessionStorage;
    let sessions: SessionService;
    let outcome: ManyTurnsOutcome;

    beforeAll(async () => {
      store = await create();
      const description = patient(store.description);
      storage = await openDescribed(description);
      sessions = new SessionService({ storage });
      await Promise.all(each.map((turn) => sessions.createSession(keyOfTurn(turn))));
      const worker = await WorkerProcess.start();
      await worker.run('open', { store: description });
      outcome = await worker.run('runManyTurns', { turns: TURNS, words: WORDS });
      await worker.stop();
    });

    afterAll(async () => {
      await sessions.close();
      await store.destroy();
    });

    it('all end, with whole logs and without pieces', async () => {
      expect(outcome.statuses).toEqual({ completed: TURNS });
      for (const turn of each.filter((number) => number % 20 === 0)) {
        const key = keyOfTurn(turn);
        const { events } = await sessions.listEvents(key);
        const texts = events.map(({ content }) => content?.parts?.[0]?.text);
        expect(texts).toEqual(['hi', wordsOfTurn(turn, WORDS).join('')]);
        expect(await savedPieces(storage, key)).toEqual([]);
        expect(await sessions.getTurn(key)).toBeUndefined();
      }
    });

    it('call the store four times each, and save a word of all of them together', () => {
      const { saves } = outcome;
      const { tails = 0, ...calls } = outcome.calls;
      expect(calls).toEqual({ turn: TURNS, read: TURNS, append: 2 * TURNS });
      // Those of the ticks, for all that wait together.
      expect(tails).toBeLessThanOrEqual(60);
      // A slow machine saves the first ones before the last ones speak.
      expect(saves).toBeLessThanOrEqual(4 * WORDS);
    });

    it('send the server a few messages each, and hardly any for a word', () => {
      const { sent, sentForWords, saves } = outcome;
      const { counted, ofTurn, together, ofPortion } = SENT[name === 'redis' ? 'redis' : 'postgres'];
      // Those of the first save may find that the server does not know their script yet, and be sent again.
      const again = TURNS / together;
      const portions = (WORDS * TURNS) / together + saves + again;
      expect(sentForWords[counted]).toBeGreaterThan(0);
      expect(sentForWords[counted]).toBeLessThanOrEqual(ofPortion * portions);
      expect(sent[counted] - sentForWords[counted]).toBeLessThanOrEqual(ofTurn * TURNS);
    });

    it('share the connections of the pool, and keep memory bounded', () => {
      expect(outcome.sent.connections).toBeLessThanOrEqual(CONNECTIONS);
      expect(outcome.peakBytes).toBeLessThan(PEAK_BYTES);
    });
  },
  ['redis', 'postgres'],
);

/** A busy machine takes longer for so many calls at once than a store waits by default. */
function patient(store: StoreDescription): StoreDescription {
  const milliseconds = 60_000;
  switch (store.kind) {
    case 'redis':
    case 'redis-cluster':
      return { ...store, commandTimeoutMs: milliseconds };
    case 'mariadb':
    case 'postgres':
      return { ...store, timeLimitMs: milliseconds };
    case 'sqlite':
      return store;
  }
}
