import { isControlEvent } from '../../../src/agents/index.js';
import type { LoggedEvent, WatchedEvent } from '../../../src/index.js';
import { wordsIn } from './screen.js';

/** A page that follows the sample of the docs: pieces are added, 0 begins a message anew, and a stored event replaces its pieces. */
export class Page {
  readonly stored: string[] = [];
  /** What it showed after each event, with what was being said. */
  readonly seen: string[] = [];
  readonly #live = new Map<string, { readonly author: string; text: string }>();

  /** @param nameOf what pieces and the event that replaces them have in common */
  constructor(private readonly nameOf: (event: LoggedEvent) => string) {}

  show(event: WatchedEvent): void {
    const name = this.nameOf(event);
    const { author = '' } = event;
    if (event.partial === true) {
      const before = event.offset === 0 ? '' : (this.#live.get(name)?.text ?? '');
      this.#live.set(name, { author, text: before + wordsIn(event) });
    } else {
      this.#live.delete(name);
      if (!isControlEvent(event)) this.stored.push(`${author}: ${wordsIn(event)}`);
    }
    this.seen.push([...this.stored, ...this.live].join('\n'));
  }

  /** What is being said, sorted. */
  get live(): readonly string[] {
    return [...this.#live.values()].map(({ author, text }) => `${author}: ${text}`).sort();
  }

  /** The moments at which it showed old text beside the new one. */
  mixed(old: readonly string[], now: string): readonly string[] {
    return this.seen.filter((seen) => seen.includes(now) && old.some((each) => seen.includes(each)));
  }
}

export function pageByMessage(): Page {
  return new Page(({ id }) => id);
}

export function pageBySpeaker(): Page {
  return new Page(({ invocationId, author, branch }) => JSON.stringify([invocationId, author, branch]));
}
