import type { LoggedEvent } from '../../src/sessions/domain/event/event.js';

/** Events of one request, and of one step of what is forgotten. */
export const WINDOW = 200;
/** So many windows are kept at most, and so many characters. Those that were not looked at for longest are read again when they are. */
const MOST_WINDOWS = 50;
const MOST_CHARACTERS = 64_000_000;
/** What is looked at spans so many windows. They are kept, however large they are. */
const FEWEST_WINDOWS = 3;

interface Window {
  readonly events: Map<number, LoggedEvent>;
  characters: number;
  /** Up to this event it was read: what is not there is missing in the log. */
  readTo: number;
}

/** What was read of a log, in windows of neighbours. */
export class EventWindows {
  /** The one that was looked at last is the last one. */
  readonly #windows = new Map<number, Window>();
  #characters = 0;

  at(seq: number): LoggedEvent | undefined {
    return this.#windows.get(windowOf(seq))?.events.get(seq);
  }

  /** Whether the events of a window from one to another are there, or were asked for in vain. */
  isRead(index: number, from: number, to: number): boolean {
    const window = this.#windows.get(index);
    return window !== undefined && (window.readTo >= to || window.events.size >= to - from + 1);
  }

  /** Whether the log was read there, and does not have the event. */
  isMissing(seq: number): boolean {
    const window = this.#windows.get(windowOf(seq));
    return window !== undefined && window.readTo >= seq && !window.events.has(seq);
  }

  noteRead(index: number, to: number): void {
    const window = this.#at(index);
    window.readTo = Math.max(window.readTo, to);
  }

  keep(event: LoggedEvent): void {
    const index = windowOf(event.seq);
    const window = this.#at(index);
    if (!window.events.has(event.seq)) {
      const characters = JSON.stringify(event).length;
      window.characters += characters;
      this.#characters += characters;
    }
    window.events.set(event.seq, event);
    this.#forget(index);
  }

  /** Remembers that a window is looked at. */
  touch(index: number): void {
    const window = this.#windows.get(index);
    if (!window) return;
    this.#windows.delete(index);
    this.#windows.set(index, window);
  }

  clear(): void {
    this.#windows.clear();
    this.#characters = 0;
  }

  #at(index: number): Window {
    const window = this.#windows.get(index) ?? { events: new Map<number, LoggedEvent>(), characters: 0, readTo: 0 };
    this.#windows.set(index, window);
    return window;
  }

  #forget(kept: number): void {
    const isOver = (): boolean => {
      const { size } = this.#windows;
      return size > MOST_WINDOWS || (size > FEWEST_WINDOWS && this.#characters > MOST_CHARACTERS);
    };
    while (isOver()) {
      const oldest = [...this.#windows].find(([index]) => index !== kept);
      if (!oldest) return;
      this.#windows.delete(oldest[0]);
      this.#characters -= oldest[1].characters;
    }
  }
}

/** The window that an event is in. */
export function windowOf(seq: number): number {
  return Math.floor((seq - 1) / WINDOW);
}
