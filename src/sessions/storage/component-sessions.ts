import type { ComponentStore } from './component-store.js';

const PAGE = 1_000;

/** The sessions of components whose names begin so, in their order, page by page; they may be removed meanwhile. */
export async function* componentSessionsWith(
  prefix: string,
  components: Pick<ComponentStore, 'sessions'>,
): AsyncGenerator<string, void, void> {
  for (let after: string | undefined = prefix || undefined; ;) {
    const found: string[] = await components.sessions({ after, limit: PAGE });
    for (const session of found) {
      // They are ordered.
      if (!session.startsWith(prefix)) return;
      yield session;
    }
    if (found.length < PAGE) return;
    after = found.at(-1);
  }
}
