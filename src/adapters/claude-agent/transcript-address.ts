import { hash } from 'node:crypto';
import type { SessionKey as TranscriptKey } from '@anthropic-ai/claude-agent-sdk';
import { assertId, checkedSessionKey, isId } from '../../adapter.js';
import { InvalidInputError, type SessionKey } from '../../index.js';

/** The app of a project: a name for all of them, or a function. */
export type TranscriptApp = string | ((projectKey: string) => string);

/** A transcript and the session that keeps it. */
export interface TranscriptAddress {
  readonly key: SessionKey;
  readonly projectKey: string;
  /** The id of the main transcript. */
  readonly sessionId: string;
  /** Of a transcript of a subagent. */
  readonly subpath: string | undefined;
}

const LONGEST_START = 100;

/** Where a transcript is. Ids come from the SDK, and the user from the app, so that no key leads to another user. */
export function toTranscriptAddress(
  { projectKey, sessionId, subpath }: TranscriptKey,
  app: TranscriptApp | undefined,
  userId: string,
): TranscriptAddress {
  assertId(sessionId, 'sessionId');
  if (sessionId.includes('/')) {
    throw new InvalidInputError(
      'must not contain a slash: transcripts of subagents are named by `subpath`',
      'sessionId',
    );
  }
  if (subpath === '') throw new InvalidInputError('must not be empty; leave it out for the main transcript', 'subpath');
  const id = subpath === undefined ? sessionId : nameOfSub(sessionId, subpath);
  const key = checkedSessionKey({ appName: chooseAppName(projectKey, app), userId, sessionId: id });
  return { key, projectKey, sessionId, subpath };
}

/** A project is an app, unless the app says otherwise. */
export function chooseAppName(projectKey: string, app: TranscriptApp | undefined): string {
  if (typeof app === 'string') return app;
  if (app) return app(projectKey);
  if (typeof projectKey !== 'string') throw new InvalidInputError('must be a text', 'projectKey');
  const start = projectKey.slice(0, LONGEST_START);
  const isTooLong = isId(start) && !isId(projectKey);
  const name = isTooLong ? `${start}-${hash('sha256', projectKey)}` : projectKey;
  assertId(name, 'projectKey');
  return name;
}

function nameOfSub(sessionId: string, subpath: string): string {
  const name = `${sessionId}/${subpath}`;
  return isId(name) ? name : `${sessionId}/${hash('sha256', subpath)}`;
}
