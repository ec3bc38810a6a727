import { Annotation, type StateSnapshot } from '@langchain/langgraph';

/**
 * A log that all nodes add to, a value that the last one sets, and the item of a task that was sent. The log has each line once,
 * since a subgraph returns what it was given.
 */
export const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, added) => [...new Set([...before, ...added])], default: () => [] }),
  last: Annotation<string>,
  item: Annotation<string>({ reducer: (_, after) => after, default: () => '' }),
});

/** The input of a graph. */
export function says(text: string): { log: string[] } {
  return { log: [text] };
}

/** Whether the next nodes are these. */
export function isBefore(...nodes: string[]): (snapshot: StateSnapshot) => boolean {
  return ({ next }) => next.join() === nodes.join();
}
