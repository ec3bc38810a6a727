import { foldSessionSummary } from '@anthropic-ai/claude-agent-sdk';
import { ClaudeSessionStore, type ClaudeSessionStoreOptions } from '../../../../src/adapters/claude-agent/index.js';
import { InMemorySessionStorage, SessionService } from '../../../../src/index.js';
import type { SessionStorage } from '../../../../src/storage.js';

export const USER = { appName: 'shop', userId: 'ann' };
export const CHAT = '6a9f6e26-3f4e-4c0e-9f6b-000000000001';
export const KEY = { projectKey: 'project', sessionId: CHAT };
export const SESSION = { ...USER, sessionId: CHAT };

/** A store of transcripts and its service, in memory unless another storage is given. */
export function openTranscripts(
  options: Partial<ClaudeSessionStoreOptions> = {},
  storage: SessionStorage = new InMemorySessionStorage(),
) {
  const sessions = options.sessions ?? new SessionService({ storage });
  const store = new ClaudeSessionStore({ ...USER, foldSessionSummary, ...options, sessions });
  return { sessions, storage, store };
}

let last = 0;

/** Fields that entries of conversations have. */
function common() {
  const number = ++last;
  return {
    uuid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    parentUuid: number > 1 ? `00000000-0000-4000-8000-${String(number - 1).padStart(12, '0')}` : null,
    sessionId: CHAT,
    timestamp: new Date(Date.UTC(2026, 10, 1) + number).toISOString(),
    cwd: '/work',
    isSidechain: false,
  };
}

export function prompt(content: unknown) {
  return { type: 'user', ...common(), message: { role: 'user', content } };
}

export function answer(content: readonly object[], message: object = {}) {
  return { type: 'assistant', ...common(), message: { role: 'assistant', model: 'claude-x', content, ...message } };
}

export function text(said: string) {
  return { type: 'text', text: said };
}
