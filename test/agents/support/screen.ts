import { isControlEvent } from '../../../src/agents/index.js';
import type { LoggedEvent, WatchedEvent } from '../../../src/index.js';

/** What a page shows: each stored message, and what is being said. */
export class Screen {
  readonly stored: string[] = [];
  /** By author. */
  readonly live = new Map<string, { readonly id: string; readonly text: string }>();
  seq = 0;

  /** The page as it is loaded. */
  load(events: readonly LoggedEvent[]): void {
    this.stored.length = 0;
    this.live.clear();
    this.seq = 0;
    for (const event of events) this.#store(event);
  }

  /** Adds an event of a stream, and fails if it is doubled, or if something is missing before it. */
  apply(event: WatchedEvent): void {
    const author = event.author ?? '';
    if (event.partial !== true) return this.#store(event);
    const shown = this.live.get(author);
    if (shown && shown.id !== event.id) throw new Error(`${event.id} begins beside ${JSON.stringify(shown.text)}`);
    const before = shown?.text ?? '';
    if (event.offset !== before.length) {
      throw new Error(`A piece at ${event.offset} came after ${JSON.stringify(before)} of ${event.id}`);
    }
    this.live.set(author, { id: event.id, text: before + wordsIn(event) });
  }

  #store(event: LoggedEvent): void {
    if (event.seq !== this.seq + 1) throw new Error(`Event ${event.seq} came after event ${this.seq}`);
    this.seq = event.seq;
    const said = wordsIn(event);
    const shown = this.live.get(event.author ?? '');
    if (shown && event.id === shown.id && !said.startsWith(shown.text)) throw new Error(`${said} is not ${shown.text}`);
    this.live.delete(event.author ?? '');
    if (isControlEvent(event)) return;
    this.stored.push(`${event.author} ${said}`);
  }
}

export function wordsIn({ content }: LoggedEvent): string {
  return (content?.parts ?? []).map(({ text = '' }) => text).join('');
}
