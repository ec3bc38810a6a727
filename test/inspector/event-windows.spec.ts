import { EventWindows, WINDOW, windowOf } from '../../inspector/src/event-windows.js';
import type { LoggedEvent } from '../../src/index.js';

const event = (seq: number, text = ''): LoggedEvent =>
  ({ seq, id: `e-${seq}`, content: { parts: [{ text }] } }) as unknown as LoggedEvent;

const first = (index: number): number => index * WINDOW + 1;

describe('What the inspector keeps of a log', () => {
  it('is read to the end of a window, although an event is missing there', () => {
    const windows = new EventWindows();
    for (const seq of [1, 2, 4]) windows.keep(event(seq));
    expect([windows.isRead(0, 1, 4), windows.isMissing(3)]).toEqual([false, false]);
    windows.noteRead(0, 4);
    expect([windows.isRead(0, 1, 4), windows.isMissing(3), windows.isMissing(4)]).toEqual([true, true, false]);
    // What comes later was not asked for.
    expect([windows.isRead(0, 1, 5), windows.isMissing(5)]).toEqual([false, false]);
  });

  it('is known to be empty', () => {
    const windows = new EventWindows();
    windows.noteRead(1, 2 * WINDOW);
    expect([windows.isRead(1, WINDOW + 1, 2 * WINDOW), windows.isMissing(WINDOW + 1)]).toEqual([true, true]);
  });

  it('is no more than some windows, of which those are forgotten that were not looked at for longest', () => {
    const windows = new EventWindows();
    for (let index = 0; index < 60; index++) {
      windows.keep(event(first(index)));
      windows.touch(0);
    }
    expect([windows.at(first(0))?.seq, windows.at(first(1)), windows.at(first(59))?.seq]).toEqual([
      1,
      undefined,
      first(59),
    ]);
    expect(windowOf(first(59))).toBe(59);
  });

  it('is no more than some text, but for what is looked at', () => {
    const windows = new EventWindows();
    const large = 'x'.repeat(9_000_000);
    for (let index = 0; index < 12; index++) windows.keep(event(index * WINDOW + 1, large));
    const kept = Array.from({ length: 12 }, (_, index) => windows.at(index * WINDOW + 1) !== undefined);
    expect(kept.filter(Boolean)).toHaveLength(7);
    expect(kept.slice(-3)).toEqual([true, true, true]);
  });
});
