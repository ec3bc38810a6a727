import type {
  SessionStore,
  SessionStoreEntry,
  SessionSummaryEntry,
  SessionKey as TranscriptKey,
} from '@anthropic-ai/claude-agent-sdk';
import { assertId, checkOptions, KeyedQueue, readPages, sessionNameOf } from '../../adapter.js';
import type { Session, SessionFilter, SessionService } from '../../index.js';
import { readableSession } from '../shared/readable-session.js';
import { type TranscriptApp, toTranscriptAddress, chooseAppName } from './transcript-address.js';
import { loadEntries } from './transcript-log.js';
import { SUBPATH_FIELD, SUMMARY_FIELD, TRANSCRIPT, ownedBy } from './transcript-metadata.js';
import { type FoldSummary, TranscriptWriter } from './transcript-writer.js';

/** What a {@link ClaudeSessionStore} needs. */
export interface ClaudeSessionStoreOptions {
  readonly sessions: SessionService;
  /** The user whose sessions the transcripts are. */
  readonly userId: string;
  /** The app of the sessions: a name, or `(projectKey) => name`. Default: each project is an app. */
  readonly appName?: TranscriptApp | undefined;
  /** The function of the SDK. With it, `listSessions` of the SDK needs no transcripts. */
  readonly foldSessionSummary?: FoldSummary | undefined;
}

/**
 * Keeps the transcripts of the Claude Agent SDK in sessions of a user. Entries come back as they went in, and what they say are events
 * that everything else can read.
 *
 * @example
 * const sessionStore = new ClaudeSessionStore({ sessions, userId: 'ann', foldSessionSummary });
 * for await (const message of query({ prompt: 'Hello', options: { sessionStore } })) show(message);
 */
export class ClaudeSessionStore implements SessionStore {
  /** Missing without `foldSessionSummary`: then the SDK loads each transcript of a list. */
  readonly listSessionSummaries?: (projectKey: string) => Promise<SessionSummaryEntry[]>;
  readonly #sessions: SessionService;
  readonly #userId: string;
  readonly #app: TranscriptApp | undefined;
  readonly #writer: TranscriptWriter;
  readonly #queue = new KeyedQueue();

  constructor(options: ClaudeSessionStoreOptions) {
    checkOptions('ClaudeSessionStore', options, {
      sessions: 'object',
      userId: 'anything',
      appName: 'id or function?',
      foldSessionSummary: 'function?',
    });
    const { sessions, userId, appName, foldSessionSummary } = options;
    assertId(userId, 'userId');
    this.#sessions = sessions;
    this.#userId = userId;
    this.#app = appName;
    this.#writer = new TranscriptWriter(sessions, foldSessionSummary);
    if (foldSessionSummary) this.listSessionSummaries = (projectKey) => this.#summaries(projectKey);
  }

  async append(key: TranscriptKey, entries: SessionStoreEntry[]): Promise<void> {
    const address = toTranscriptAddress(key, this.#app, this.#userId);
    if (entries.length === 0) return;
    const given = [...entries];
    await this.#queue.run(sessionNameOf(address.key), () => this.#writer.append(address, given));
  }

  async load(key: TranscriptKey): Promise<SessionStoreEntry[] | null> {
    const session = toTranscriptAddress(key, this.#app, this.#userId).key;
    this.#writer.begin(session);
    return loadEntries(this.#sessions, session);
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const listed: { sessionId: string; mtime: number }[] = [];
    for await (const session of this.#list(projectKey, TRANSCRIPT)) listed.push(toListedTranscript(session));
    return listed;
  }

  async delete(key: TranscriptKey): Promise<void> {
    const { key: session, subpath } = toTranscriptAddress(key, this.#app, this.#userId);
    if (subpath === undefined) {
      for await (const { id } of this.#list(key.projectKey, ownedBy(key.sessionId))) {
        await this.#sessions.deleteSession({ ...session, sessionId: id });
      }
    }
    await this.#sessions.deleteSession(session);
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    toTranscriptAddress(key, this.#app, this.#userId);
    const subpaths: string[] = [];
    for await (const listed of this.#list(key.projectKey, ownedBy(key.sessionId))) {
      const { metadata } = await readableSession(this.#sessions, listed);
      const subpath = metadata.fields[SUBPATH_FIELD];
      if (typeof subpath === 'string') subpaths.push(subpath);
    }
    return subpaths;
  }

  async #summaries(projectKey: string): Promise<SessionSummaryEntry[]> {
    const summaries: SessionSummaryEntry[] = [];
    for await (const listed of this.#list(projectKey, TRANSCRIPT)) {
      const session = await readableSession(this.#sessions, listed);
      const data = session.metadata.fields[SUMMARY_FIELD] as SessionSummaryEntry['data'] | undefined;
      if (data) summaries.push({ ...toListedTranscript(session), data });
    }
    return summaries;
  }

  /** The user's sessions of a project with these labels, in an order that changes do not disturb. */
  async *#list(projectKey: string, labels: SessionFilter['labels']): AsyncGenerator<Session> {
    const owner = { appName: chooseAppName(projectKey, this.#app), userId: this.#userId };
    const list = { ...owner, filter: { labels }, orderBy: 'createTime', includeState: false, limit: 1_000 } as const;
    const pages = readPages((cursor) => this.#sessions.listSessions({ ...list, cursor }));
    for await (const { sessions } of pages) yield* sessions;
  }
}

function toListedTranscript({ id, lastUpdateTime }: Session): { sessionId: string; mtime: number } {
  return { sessionId: id, mtime: Math.floor(lastUpdateTime) };
}
