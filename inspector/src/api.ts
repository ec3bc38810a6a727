import { signal } from '@preact/signals';
import { SessionsClient } from '../../src/client/index.js';
import { SavedText } from './saved-text.js';
import type { InspectorAction, PageConfig } from '../../src/inspector/page-config.js';

/** Of one request. */
const APPS_PAGE = 100;
/** Others are typed. */
const MOST_APPS = 1_000;

/** The token of this tab. It is gone when the tab is closed. */
export const savedToken = new SavedText('token', () => sessionStorage);

export async function readConfig(): Promise<PageConfig> {
  const response = await fetch('config.json', { headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`config.json answered ${response.status}`);
  return (await response.json()) as PageConfig;
}

/** Where a token is kept: in a cookie, by an app that has a sign-in of its own, or in this tab. */
export async function signIn(credential: string): Promise<'cookie' | 'tab' | 'refused'> {
  const response = await post('sign-in', { credential });
  if (response.ok) return 'cookie';
  return response.status === 401 ? 'refused' : 'tab';
}

/** Forgets the token, in this tab and in the cookie. */
export async function signOut({ isSignedIn = false }: PageConfig): Promise<void> {
  savedToken.write('');
  if (!isSignedIn) return;
  const response = await post('sign-out', {});
  if (!response.ok) throw new Error(`sign-out answered ${response.status}`);
}

function post(route: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(route, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** The routes that the page reads: those that each client of the app has. */
export class Api {
  readonly client: SessionsClient;
  /** Whether the server answered the last request. Streams try again by themselves. */
  readonly isReachable = signal(true);
  readonly #url: string;
  readonly #asked = new Set<Promise<unknown>>();

  constructor(readonly config: PageConfig) {
    this.#url = new URL(config.api, document.baseURI).href.replace(/\/$/, '');
    this.client = new SessionsClient({
      url: this.#url,
      headers: () => this.#headers(),
      fetch: (...request) => this.#fetch(...request),
    });
  }

  /** Whether the page offers this. */
  may(action: InspectorAction): boolean {
    return this.config.actions.includes(action);
  }

  /** The apps that have sessions, the first thousand of them, or undefined to those who may not list them. */
  async apps(): Promise<readonly string[] | undefined> {
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const query = new URLSearchParams({ limit: String(APPS_PAGE), ...(cursor !== undefined && { cursor }) });
      const response = await this.#fetch(`${this.#url}/apps?${query.toString()}`, {
        headers: { accept: 'application/json', ...this.#headers() },
      });
      if (response.status === 401 || response.status === 403) return undefined;
      if (response.status === 404)
        throw new Error(`There are no routes of sessions at ${this.#url}: is api the path of SessionsRestModule?`);
      if (!response.ok) throw new Error(`GET /apps answered ${response.status}`);
      const page = (await response.json()) as { readonly apps: readonly string[]; readonly nextCursor?: string };
      names.push(...page.apps);
      cursor = page.nextCursor;
    } while (cursor !== undefined && names.length < MOST_APPS);
    return names;
  }

  /** Waits for the answers to what was asked so far. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#asked);
  }

  async #fetch(...request: Parameters<typeof fetch>): Promise<Response> {
    const asked = fetch(...request);
    this.#asked.add(asked);
    try {
      const response = await asked;
      this.isReachable.value = true;
      return response;
    } catch (error) {
      // A request that the page gave up says nothing of the server.
      if (request[1]?.signal?.aborted !== true) this.isReachable.value = false;
      throw error;
    } finally {
      this.#asked.delete(asked);
    }
  }

  #headers(): Record<string, string> {
    const token = savedToken.read();
    return token === '' ? {} : { authorization: `Bearer ${token}` };
  }
}
