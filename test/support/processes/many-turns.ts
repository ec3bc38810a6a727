import { AgentSessions } from '../../../src/agents/agent-sessions.js';
import type { RunHandler } from '../../../src/agents/index.js';
import { SessionService } from '../../../src/sessions/session.service.js';
import type { SessionStorage } from '../../../src/sessions/storage/session-storage.js';
import { type SentCounts, countSent } from './sent-counts.js';

/** Turns of one process that all stream at the same time. */
export interface ManyTurnsTask {
  readonly turns: number;
  /** Each turn says its next word when the words of all turns are saved. */
  readonly words: number;
}

/** So long that no turn is renewed, however busy the machine is. */
const TURN_TTL_MS = 600_000;

/** What they cost. */
export interface ManyTurnsOutcome {
  readonly statuses: Readonly<Record<string, number>>;
  /** Calls of the store, by name. */
  readonly calls: Readonly<Record<string, number>>;
  /** How often pieces were saved. */
  readonly saves: number;
  /** What was sent to the server. */
  readonly sent: SentCounts;
  /** The part of it that saved the words, while all turns were open. */
  readonly sentForWords: SentCounts;
  /** What the process needed more, at most, than before. */
  readonly peakBytes: number;
}

/** The session of a turn. Each has its own user. */
export function keyOfTurn(turn: number) {
  return { appName: 'shop', userId: `u-${turn}`, sessionId: `s-${turn}` };
}

/** What a turn says, word by word. */
export function wordsOfTurn(turn: number, words: number): string[] {
  return Array.from({ length: words }, (_, word) => `${turn}-${word} `);
}

/** Runs an agent in as many sessions at once. The sessions exist. */
export async function runManyTurns(
  storage: SessionStorage,
  { turns, words }: ManyTurnsTask,
): Promise<ManyTurnsOutcome> {
  const observed = new ObservedStorage(storage);
  const sessions = new SessionService({ storage: observed.storage });
  const agents = new AgentSessions({ sessions, turnTtlMs: TURN_TTL_MS });
  const begun = new Gate();
  const rounds = Array.from({ length: words }, () => new Gate());
  let open = 0;
  observed.onSaved = (pieces) => rounds[pieces / turns - 1]?.open();
  const handlerOf = (turn: number): RunHandler =>
    async function* () {
      open += 1;
      if (open === turns) begun.open();
      await begun.passed;
      const said = wordsOfTurn(turn, words);
      for (const [index, word] of said.entries()) {
        yield { partial: true, content: { role: 'model', parts: [{ text: word }] } };
        await rounds[index]?.passed;
      }
      return { content: { role: 'model', parts: [{ text: said.join('') }] } };
    };
  const memory = peakOfMemory();
  const sent = countSent();
  const ofWords = begun.passed.then(() => countSent());
  const sentForWords = Promise.all([ofWords, rounds.at(-1)?.passed]).then(([count]) => count());
  const results = await Promise.all(
    Array.from({ length: turns }, (_, turn) => {
      return agents.run({ ...keyOfTurn(turn), newMessage: 'hi' }, handlerOf(turn)).result;
    }),
  );
  const statuses: Record<string, number> = {};
  for (const { status } of results) statuses[status] = (statuses[status] ?? 0) + 1;
  const { calls, saves } = observed;
  const outcome = { statuses, calls, saves, sent: sent(), sentForWords: await sentForWords, peakBytes: memory() };
  await agents.close();
  await sessions.finish();
  return outcome;
}

/** Many wait for one moment. */
class Gate {
  open: () => void = () => undefined;
  readonly passed = new Promise<void>((resolve) => (this.open = resolve));
}

/** A storage that counts its calls, and the pieces that it saved. */
class ObservedStorage {
  readonly calls: Record<string, number> = {};
  readonly storage: SessionStorage;
  onSaved: (pieces: number) => void = () => undefined;
  saves = 0;
  #pieces = 0;
  #isSaving = false;

  constructor(storage: SessionStorage) {
    const savePartial: SessionStorage['savePartial'] = async (write) => {
      this.#countSave();
      const outcome = await storage.savePartial(write);
      if (outcome.kind === 'saved') this.onSaved(++this.#pieces);
      return outcome;
    };
    this.storage = new Proxy(storage, {
      get: (target, name) => {
        if (name === 'savePartial') return savePartial;
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          this.#count(String(name));
          return value.apply(target, args);
        };
      },
    });
  }

  /** Pieces that are saved at once count as one. */
  #countSave(): void {
    if (this.#isSaving) return;
    this.#isSaving = true;
    setImmediate(() => (this.#isSaving = false));
    this.saves += 1;
  }

  #count(name: string): void {
    this.calls[name] = (this.calls[name] ?? 0) + 1;
  }
}

/** Returns a function that ends the observation. */
function peakOfMemory(): () => number {
  const before = process.memoryUsage.rss();
  let peak = before;
  const look = (): void => void (peak = Math.max(peak, process.memoryUsage.rss()));
  const timer = setInterval(look, 10);
  return () => {
    clearInterval(timer);
    look();
    return peak - before;
  };
}
