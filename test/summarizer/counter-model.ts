import type { LoggedEvent } from '../../src/index.js';
import type { Counters } from '../../src/sessions/domain/stored/counters.js';

interface Moment {
  /** The events that are not rewound. */
  readonly visible: readonly LoggedEvent[];
  /** The last event that the current summary covers. */
  readonly boundary: number;
}

const START: Moment = { visible: [], boundary: 0 };

/** A simple model of the counters: keeps the visible events after each event, and restores them on a rewind. */
export class Recount {
  readonly #moments = new Map<number, Moment>();
  #now = START;

  constructor(log: readonly LoggedEvent[]) {
    for (const event of log) {
      this.#now = this.#after(event);
      this.#moments.set(event.seq, this.#now);
    }
  }

  get total(): Counters {
    return counted(this.#now.visible);
  }

  get since(): Counters {
    return this.sinceAt(this.#now);
  }

  /** The state when the event with this number was the last one. */
  at(seq: number): Moment {
    return this.#moments.get(seq) ?? START;
  }

  sinceAt({ visible, boundary }: Moment): Counters {
    return counted(visible.filter(({ seq }) => seq > boundary));
  }

  #after(event: LoggedEvent): Moment {
    const { compaction, rewind } = event.actions;
    const { visible, boundary } = this.#now;
    if (rewind) return this.at(rewind.toSeq);
    if (compaction) return { visible, boundary: Math.max(boundary, compaction.toSeq) };
    return { visible: [...visible, event], boundary };
  }
}

function counted(events: readonly LoggedEvent[]): Counters {
  const texts = events.map(({ content }) => (content?.parts ?? []).map(({ text }) => text ?? '').join(''));
  return {
    turns: events.filter(({ author }, index) => author === 'user' && texts[index] !== '').length,
    events: events.length,
    contentLength: texts.join('').length,
    tokens: events.reduce((sum, { usageMetadata }) => sum + (usageMetadata?.totalTokenCount ?? 0), 0),
  };
}
