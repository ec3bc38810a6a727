/** Holds those who enter until it is opened. */
export function gate(): { open(): void; readonly entered: Promise<void>; enter(): Promise<void> } {
  const [opened, open] = signal();
  const [entered, enter] = signal();
  return { open, entered, enter: () => (enter(), opened) };
}

/** A promise, and what fulfils it. */
export function signal(): [Promise<void>, () => void] {
  const controller = new AbortController();
  const given = new Promise<void>((resolve) => controller.signal.addEventListener('abort', () => resolve()));
  return [given, () => controller.abort()];
}
