import { SessionNotFoundError } from '../domain/errors/errors.js';
import { askApp } from '../domain/errors/nested-failures.js';
import { createAccessRefusal } from './access-refusals.js';
import type { AccessRequest, SessionAccess } from './session-access.js';

type Question = 'allows' | 'allowsWrite' | 'allowsServerState' | 'allowsPrompts';

/** What the rule answers. What an operation threw to it is its fault, except that it has not found the session that it was asked about. */
export function askRule(access: SessionAccess, question: Question, asked: AccessRequest): Promise<unknown> {
  return askApp(`${question}() of the access rule`, async () => {
    try {
      return await access[question](asked);
    } catch (error) {
      const isAsked = error instanceof SessionNotFoundError && error.sessionId === asked.sessionId;
      throw isAsked ? createAccessRefusal(asked) : error;
    }
  });
}

/** The user of a request, as the rule finds it. */
export function askRuleForUser(access: SessionAccess, request: unknown): Promise<unknown> {
  return askApp('userOf() of the access rule', () => access.userOf(request));
}
