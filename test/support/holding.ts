/** A promise that is pending until its release. */
export function holding(): { held: Promise<void>; release: () => void } {
  const releases: (() => void)[] = [];
  const held = new Promise<void>((resolve) => releases.push(resolve));
  return { held, release: () => releases[0]?.() };
}
