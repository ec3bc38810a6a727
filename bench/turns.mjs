import { setTimeout as delay } from 'node:timers/promises';
import { AgentSessions } from '../dist/agents/index.js';
import { SessionService } from '../dist/index.js';
import { compareCosts, costOf, passes } from './support/measure.mjs';
import { OWNER } from './support/owner.mjs';
import { SERVER_NAMES, withServer } from './support/server-sides.mjs';
import { STORE_NAMES, withSides } from './support/sides.mjs';

/** How many turns run at once. */
const TURNS = Number(process.env.BENCH_TURNS ?? 1_000);
const WORDS = 5;
const PAUSE_MS = 20;

export const title = `${TURNS.toLocaleString('en')} turns at once that say ${WORDS} words ("ours"), beside their two appends ("raw")`;

/** @param {{ stores?: string[] }} [selection] default: all of them */
export async function run({ stores = [...STORE_NAMES, ...SERVER_NAMES] } = {}) {
  const rows = [];
  for (const store of stores) {
    const place = STORE_NAMES.includes(store) ? withSides : withServer;
    const row = await place(store, (sides) => measured(store, sides));
    if (row) rows.push(row);
  }
  return rows;
}

async function measured(store, { ours }) {
  const keys = Array.from({ length: TURNS }, (_, turn) => ({ ...OWNER, userId: `u-${turn}`, sessionId: `s-${turn}` }));
  await Promise.all(keys.map((key) => ours.service.createSession(key)));
  const counting = new CountingStorage(ours.storage);
  const sessions = new SessionService({ storage: counting.storage });
  const agents = new AgentSessions({ sessions });
  const sides = {
    ours: () => Promise.all(keys.map((key) => agents.run({ ...key, newMessage: 'Hello' }, speaking).result)),
    raw: () => Promise.all(keys.map((key) => appendBoth(ours.service, key))),
  };
  const memory = peakOfMemory();
  const comparison = await compareCosts(passes(3), (side) => costOf(TURNS, sides[side]));
  const peak = memory();
  const ofTurn = (name) => (counting.calls[name] ?? 0) / (TURNS * (passes(3) + 1));
  const calls = ['turn', 'read', 'append'].reduce((sum, name) => sum + ofTurn(name), 0);
  const saves = counting.saves / (passes(3) + 1);
  const what = `${store} (${calls.toFixed(1)} calls for a turn, ${saves.toFixed(0)} for all words, ${Math.round(peak / 1e6)} MB more)`;
  await agents.close();
  return { what, unit: 'turns/s', ...comparison };
}

/** An agent that thinks between its words. */
async function* speaking() {
  let said = '';
  for (let word = 0; word < WORDS; word++) {
    said += `word ${word} `;
    yield { partial: true, content: { role: 'model', parts: [{ text: `word ${word} ` }] } };
    await delay(PAUSE_MS);
  }
  return { content: { role: 'model', parts: [{ text: said }] } };
}

/** What a program without turns stores. */
async function appendBoth(service, { sessionId: id, ...owner }) {
  const session = { id, ...owner };
  await service.appendEvents({ session, events: [{ author: 'user', content: { parts: [{ text: 'Hello' }] } }] });
  await delay(WORDS * PAUSE_MS);
  await service.appendEvents({ session, events: [{ author: 'agent', content: { parts: [{ text: 'word' }] } }] });
}

class CountingStorage {
  calls = {};
  /** Pieces that are saved at once count as one. */
  saves = 0;
  #isSaving = false;

  constructor(storage) {
    this.storage = this.#counted(storage);
  }

  #counted(target) {
    return new Proxy(target, {
      get: (owner, name) => {
        const value = Reflect.get(owner, name, owner);
        if (typeof value !== 'function') return value;
        return (...args) => {
          const call = String(name);
          if (call === 'savePartial') this.#countSave();
          this.calls[call] = (this.calls[call] ?? 0) + 1;
          return value.apply(owner, args);
        };
      },
    });
  }

  #countSave() {
    if (this.#isSaving) return;
    this.#isSaving = true;
    setImmediate(() => (this.#isSaving = false));
    this.saves += 1;
  }
}

/** Returns a function that answers how many bytes the process needed more, at most. */
function peakOfMemory() {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10);
  return () => {
    clearInterval(timer);
    return peak - before;
  };
}
