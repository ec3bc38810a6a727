import type { RunnableConfig } from '@langchain/core/runnables';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { INTERRUPT, type StateSnapshot } from '@langchain/langgraph';
import { shownSnapshot, threadIn, withoutIds } from './observed-threads.js';

/** When LangGraph waits for its saver: after each step, in the background, or at the end only. */
export type Durability = 'async' | 'sync' | 'exit';

export const DURABILITIES: readonly Durability[] = ['async', 'sync', 'exit'];

/** A graph, whatever its state is. */
export interface AnyGraph {
  invoke(input: unknown, config?: RunnableConfig & { readonly durability?: Durability }): Promise<unknown>;
  getState(config: RunnableConfig, options?: { readonly subgraphs?: boolean }): Promise<StateSnapshot>;
  getStateHistory(config: RunnableConfig, options?: object): AsyncIterable<StateSnapshot>;
  updateState(config: RunnableConfig, values: unknown, asNode?: string): Promise<RunnableConfig>;
}

/** Compiles the graph of a scenario. What its nodes do is counted by {@link JudgedRun.effect}. */
export type Build = (saver: BaseCheckpointSaver, effect: (name: string) => number) => unknown;

const THREAD = 'thread';

/** Plays a scenario with a saver, and notes all that a caller can see, without ids. */
export class JudgedRun {
  readonly #notes: unknown[] = [];
  readonly #effects = new Map<string, number>();

  /** @param openSaver called for each call of a graph, as if each was in a process of its own, or always the same saver */
  constructor(
    private readonly openSaver: () => BaseCheckpointSaver,
    private readonly durability: Durability,
    private readonly build: Build,
  ) {}

  get config(): { configurable: { thread_id: string } } {
    return { configurable: { thread_id: THREAD } };
  }

  /** How often a node came to this place, now included. */
  readonly effect = (name: string): number => {
    const times = (this.#effects.get(name) ?? 0) + 1;
    this.#effects.set(name, times);
    return times;
  };

  async invoke(input: unknown, config: RunnableConfig = this.config, options: object = {}): Promise<unknown> {
    try {
      const answer = await this.#graph().invoke(input, { ...config, ...options, durability: this.durability });
      this.note('answer', withoutIds(answer));
      return answer;
    } catch (error) {
      this.note('failed', withoutIds(error));
      return undefined;
    }
  }

  async state(config: RunnableConfig = this.config): Promise<StateSnapshot> {
    const snapshot = await this.#graph().getState(config, { subgraphs: true });
    this.note('state', shownSnapshot(snapshot));
    return snapshot;
  }

  /** All states, newest first. */
  async history(config: RunnableConfig = this.config, options?: object): Promise<StateSnapshot[]> {
    const snapshots: StateSnapshot[] = [];
    for await (const snapshot of this.#graph().getStateHistory(config, options)) snapshots.push(snapshot);
    this.note('history', snapshots.map(shownSnapshot));
    return snapshots;
  }

  /** The newest state of the history that fits; one of its middle if none does, since there are fewer with `exit`. */
  async earlier(fits: (snapshot: StateSnapshot) => boolean): Promise<RunnableConfig> {
    const history = await this.history();
    const found = history.find(fits) ?? history[Math.floor(history.length / 2)];
    if (!found) throw new Error('There is no history');
    return found.config;
  }

  async update(config: RunnableConfig, values: unknown, asNode?: string): Promise<RunnableConfig> {
    try {
      const updated = await this.#graph().updateState(config, values, asNode);
      this.note('updated', asNode);
      return updated;
    } catch (error) {
      this.note('not updated', withoutIds(error));
      return config;
    }
  }

  get saver(): BaseCheckpointSaver {
    return this.openSaver();
  }

  note(what: string, seen: unknown): void {
    this.#notes.push({ [what]: seen });
  }

  /** All that was seen, with what the saver shows at the end. */
  async end(): Promise<unknown> {
    const state = await this.#graph().getState(this.config, { subgraphs: true });
    return {
      effects: Object.fromEntries([...this.#effects].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      notes: this.#notes,
      end: shownSnapshot(state),
      thread: await threadIn(this.saver, THREAD),
    };
  }

  #graph(): AnyGraph {
    return this.build(this.openSaver(), this.effect) as AnyGraph;
  }
}

/** The ids of the questions in an answer, with what was asked. */
export function questionsIn(answer: unknown): { readonly id: string; readonly value: unknown }[] {
  const asked = (answer as Record<string, unknown> | undefined)?.[INTERRUPT];
  return (asked ?? []) as { readonly id: string; readonly value: unknown }[];
}
