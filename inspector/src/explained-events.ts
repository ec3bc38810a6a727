import { BoundedMap } from '../../src/sessions/domain/process/bounded-map.js';
import type { ExplainedEvent } from '../../src/sessions/operations/explain-view.js';
import { windowOf } from './event-windows.js';

/** So many windows are kept at most. */
const MOST_WINDOWS = 50;

/** Why an event is given to a model, or not. */
export type Decision = Pick<ExplainedEvent, 'inView' | 'reason' | 'by'>;

interface Window {
  /** The view that was explained. */
  readonly view: number;
  readonly decisions: ReadonlyMap<number, Decision>;
}

/** What was read of why events are given to a model, in windows of the log. The last answer stays until there is a newer one. */
export class ExplainedEvents {
  #windows = new BoundedMap<Window>(MOST_WINDOWS);

  at(seq: number): Decision | undefined {
    return this.#windows.get(String(windowOf(seq)))?.decisions.get(seq);
  }

  /** Whether a window is explained for this view. */
  isFor(view: number, index: number): boolean {
    return this.#windows.get(String(index))?.view === view;
  }

  keep(view: number, index: number, events: readonly ExplainedEvent[]): void {
    this.#windows.set(String(index), { view, decisions: new Map(events.map((event) => [event.seq, event])) });
  }

  clear(): void {
    this.#windows = new BoundedMap(MOST_WINDOWS);
  }
}

/** What the page says of an event beside it; nothing of one that is simply in the view, and of a rewind, which says so itself. */
export function decisionText(seq: number, { reason, by }: Decision): string | undefined {
  switch (reason) {
    case 'kept':
    case 'summary':
      return undefined;
    case 'anchor':
      return 'kept as the beginning';
    case 'calledFor':
      return `kept for event ${by}`;
    case 'summarised':
      return `in the summary ${by}`;
    case 'rewound':
      return by === seq ? undefined : `rewound by ${by}`;
    case 'tooOld':
      return 'too old';
    case 'overLimit':
      return 'over the limit of events';
    case 'overBytes':
      return 'over the limit of bytes';
    case 'beforeAnchor':
      return `before the beginning at ${by}`;
    case 'unpaired':
      return 'without its call';
    case 'notAsked':
      return 'not in the view';
  }
}
