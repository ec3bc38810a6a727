import { ProblemError, ServerUnreachableError } from '../../src/client/index.js';

/** Why something cannot be shown, in words for the person before the page. */
export interface Failure {
  readonly kind: 'noAccess' | 'missing' | 'offline' | 'refused' | 'failed';
  readonly title: string;
  readonly detail: string;
}

const TITLES = {
  noAccess: 'No access',
  missing: 'Not found',
  offline: 'The server does not answer',
  refused: 'Refused',
  failed: 'Something went wrong',
} as const;

export function failureOf(error: unknown): Failure {
  const kind = kindOf(error);
  const detail = error instanceof Error ? error.message : String(error);
  return { kind, title: TITLES[kind], detail };
}

function kindOf(error: unknown): Failure['kind'] {
  if (error instanceof ServerUnreachableError || isOfFetch(error)) return 'offline';
  if (!(error instanceof ProblemError)) return 'failed';
  if (error.status === 401 || error.status === 403) return 'noAccess';
  if (error.status === 404) return 'missing';
  return error.status < 500 ? 'refused' : 'failed';
}

/** `fetch` throws a TypeError if there is no answer; each browser has other words for it. */
function isOfFetch(error: unknown): boolean {
  return error instanceof TypeError && /fetch|network|load failed/i.test(error.message);
}
