import type { RunnableConfig } from '@langchain/core/runnables';
import { Recent } from '../../adapter.js';
import { type ThreadAddress, formatThreadPlace } from './thread-address.js';

/** What a caller knows of a namespace. */
export interface KnownHead {
  /** The newest checkpoint; `undefined` if there was none. */
  readonly id: string | undefined;
  /** Whether the caller wrote it. */
  readonly isOwn: boolean;
  /** The version of the session when the caller first read it. What it writes comes later. */
  readonly since: number;
}

/** How a new checkpoint relates to the newest one. */
export type Relation = 'again' | 'next' | 'branch' | 'overtaken';

/**
 * A checkpoint that does not continue the newest one begins a branch, if its writer knows the newest one or if nobody can tell.
 *
 * @param from the checkpoint that it continues
 */
export function relationOf(
  newest: string | undefined,
  { from, to }: { readonly from: string | undefined; readonly to: string },
  known: KnownHead | undefined,
): Relation {
  if (newest === to) return 'again';
  if (newest === from) return 'next';
  return known && known.id !== newest ? 'overtaken' : 'branch';
}

const MOST_NAMESPACES = 1_000;
const MOST_CHECKPOINTS = 2_000;

/**
 * What callers know of the threads that they continue, to tell a run that begins at an earlier checkpoint from one that another
 * run overtook: the first one has seen the newest checkpoint, the other one has not.
 */
export class KnownHeads {
  /** What a run found first, or wrote last. */
  readonly #ofRuns = new WeakMap<object, Recent<KnownHead>>();
  /** What was found last with a checkpoint: for callers that cannot be told apart. */
  readonly #ofCheckpoints = new Recent<KnownHead>(MOST_CHECKPOINTS);

  /** @param checkpoint that the caller continues; `undefined` for the beginning */
  of(config: RunnableConfig, address: ThreadAddress, checkpoint: string | undefined): KnownHead | undefined {
    return (
      this.#ofRun(config, address)?.get(formatThreadPlace(address)) ??
      this.#ofCheckpoints.get(formatThreadPlace(address, checkpoint))
    );
  }

  /** The caller read a checkpoint while this one was the newest. */
  afterRead(
    config: RunnableConfig,
    address: ThreadAddress,
    checkpoint: string | undefined,
    { head, version }: { readonly head: string | undefined; readonly version: number },
  ): void {
    const known = { id: head, isOwn: false, since: version };
    const heads = this.#ofRun(config, address);
    if (heads && !heads.get(formatThreadPlace(address))) heads.set(formatThreadPlace(address), known);
    const place = formatThreadPlace(address, checkpoint);
    const since = Math.min(version, this.#ofCheckpoints.get(place)?.since ?? version);
    this.#ofCheckpoints.set(place, { ...known, since });
  }

  /** The caller continued a checkpoint with another one, and this one is the newest now. */
  afterPut(
    config: RunnableConfig,
    address: ThreadAddress,
    {
      from,
      to,
      head,
      since,
    }: { readonly from: string | undefined; readonly to: string; readonly head: string; readonly since: number },
  ): void {
    const known = { id: head, isOwn: true, since };
    this.#ofRun(config, address)?.set(formatThreadPlace(address), known);
    this.#ofCheckpoints.set(formatThreadPlace(address, to), known);
    // Whoever knew that it began a branch may begin another one.
    const before = this.#ofCheckpoints.get(formatThreadPlace(address, from));
    if (before && before.id !== from)
      this.#ofCheckpoints.set(formatThreadPlace(address, from), { ...known, since: before.since });
  }

  #ofRun(config: RunnableConfig, address: ThreadAddress): Recent<KnownHead> | undefined {
    const run = runOf(config, address);
    if (!run) return undefined;
    const heads = this.#ofRuns.get(run) ?? new Recent<KnownHead>(MOST_NAMESPACES);
    this.#ofRuns.set(run, heads);
    return heads;
  }
}

/**
 * An object that only one run has. LangGraph makes a signal for each graph that runs, and a writer for the outermost one, which its
 * subgraphs get: several of them may be at work in one namespace. `undefined` if the caller is no run of LangGraph.
 */
function runOf(config: RunnableConfig, { ns }: ThreadAddress): object | undefined {
  const { writer } = config as { readonly writer?: unknown };
  return ns !== '' && typeof writer === 'function' ? writer : config.signal;
}
