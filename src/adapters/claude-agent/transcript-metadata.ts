import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk';
import type { TranscriptAddress } from './transcript-address.js';
import { RESERVED } from '../../adapter.js';

/** The label of sessions with a main transcript. */
export const TRANSCRIPT: Readonly<Record<string, string>> = { 'agents:claude-transcript': 'main' };
/** What the SDK's lists show. */
export const SUMMARY_FIELD = `${RESERVED.metadata.agents}claude-summary`;
/** The path of a subagent's transcript. */
export const SUBPATH_FIELD = `${RESERVED.metadata.agents}claude-subpath`;

const OWNER_LABEL = `${RESERVED.metadata.agents}claude-session`;
const LONGEST_TITLE = 1_000;

/** The label of the transcripts of subagents of a session. */
export function ownedBy(sessionId: string): Record<string, string> {
  return { [OWNER_LABEL]: sessionId };
}

export function labelsOf({ sessionId, subpath }: TranscriptAddress): Record<string, string> {
  return subpath === undefined ? { ...TRANSCRIPT } : ownedBy(sessionId);
}

export function subpathFields({ subpath }: TranscriptAddress): Record<string, string> {
  return subpath === undefined ? {} : { [SUBPATH_FIELD]: subpath };
}

/** The title that somebody gave the session. */
export function findCustomTitle(entries: readonly SessionStoreEntry[]): string | undefined {
  const title = entries.findLast(({ type }) => type === 'custom-title')?.customTitle;
  if (typeof title !== 'string') return undefined;
  const shown = [...title.toWellFormed().trim()].slice(0, LONGEST_TITLE).join('');
  return shown === '' ? undefined : shown;
}
