import { signal } from '@preact/signals';
import type { RemotePage, RemoteSession } from '../../src/client/index.js';
import type { Api } from './api.js';
import { type Failure, failureOf } from './failures.js';
import { nameOf, noteListed } from './gone-sessions.js';
import type { PageRoute } from './page-route.js';

const PAGE = 100;
const HOUR_MS = 3_600_000;

/** How long ago sessions may have changed, to be listed. */
export const PERIODS: Readonly<Record<string, number>> = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
  month: 30 * 24 * HOUR_MS,
};

/** How often the newest page is read again while the page is looked at. */
const EVERY_MS = 3_000;

/** The sessions of an app that the filter lets through, newest first, and kept up to date. */
export class SessionList {
  readonly sessions = signal<readonly RemoteSession[] | undefined>(undefined);
  readonly failure = signal<Failure | undefined>(undefined);
  readonly hasMore = signal(false);
  #cursor: string | undefined;
  #hasRead = false;
  #isReading = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly api: Api,
    private readonly wanted: Pick<PageRoute, 'app' | 'user' | 'status' | 'tag' | 'label' | 'since'>,
  ) {}

  open(): () => void {
    void this.refresh();
    this.#timer = setInterval(() => {
      if (document.visibilityState === 'visible') void this.refresh();
    }, EVERY_MS);
    return () => clearInterval(this.#timer);
  }

  /** Reads the newest page again. What was read of later pages stays below it. */
  async refresh(): Promise<void> {
    await this.#reading(async () => {
      const { sessions, nextCursor } = await this.#page(undefined);
      noteListed(sessions);
      const known = this.sessions.value ?? [];
      const knownIds = new Set(known.map(nameOf));
      const fresh = new Set(sessions.map(nameOf));
      const oldest = sessions.at(-1)?.lastUpdateTime ?? 0;
      // Without a session that was known before, some between may be missing: the list begins anew.
      const goesOn =
        this.#hasRead && nextCursor !== undefined && sessions.some((session) => knownIds.has(nameOf(session)));
      const rest = known.filter((session) => !fresh.has(nameOf(session)) && session.lastUpdateTime <= oldest);
      this.sessions.value = goesOn ? [...sessions, ...rest] : sessions;
      if (!goesOn) this.#goOnAt(nextCursor);
      this.#hasRead = true;
    });
  }

  async more(): Promise<void> {
    const cursor = this.#cursor;
    if (cursor === undefined) return;
    await this.#reading(async () => {
      const { sessions, nextCursor } = await this.#page(cursor);
      const known = this.sessions.value ?? [];
      const ids = new Set(known.map(nameOf));
      this.sessions.value = [...known, ...sessions.filter((session) => !ids.has(nameOf(session)))];
      this.#goOnAt(nextCursor);
    });
  }

  #goOnAt(cursor: string | undefined): void {
    this.#cursor = cursor;
    this.hasMore.value = cursor !== undefined;
  }

  async #page(cursor: string | undefined): Promise<Pick<RemotePage, 'sessions' | 'nextCursor'>> {
    const { app = '', user, status, tag, label, since = '' } = this.wanted;
    const filter = {
      ...(status !== undefined && { status }),
      ...(tag !== undefined && { tags: [tag] }),
      ...(label !== undefined && { labels: labelOf(label) }),
    };
    const page = await this.api.client.listSessions({
      appName: app,
      userId: user,
      limit: PAGE,
      cursor,
      includeState: false,
      ...(Object.keys(filter).length > 0 && { filter }),
    });
    if (!Object.hasOwn(PERIODS, since)) return page;
    const from = Date.now() - (PERIODS[since] ?? 0);
    const sessions = page.sessions.filter(({ lastUpdateTime }) => lastUpdateTime >= from);
    // They come newest first: after an older one there is none to show.
    return sessions.length < page.sessions.length ? { sessions } : page;
  }

  async #reading(read: () => Promise<void>): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      await read();
      this.failure.value = undefined;
    } catch (error) {
      this.failure.value = failureOf(error);
    } finally {
      this.#isReading = false;
    }
  }
}

/** `name:value`, as it is typed. */
function labelOf(text: string): Record<string, string> {
  const colon = text.indexOf(':');
  return colon < 0 ? { [text]: '' } : { [text.slice(0, colon)]: text.slice(colon + 1) };
}
