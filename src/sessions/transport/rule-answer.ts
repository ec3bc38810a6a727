import { DEFAULT_LIMITS } from '../../config/session-settings.js';
import { type RuleFilter, ruleFilter } from '../domain/metadata/rule-filter.js';
import { InvalidInputError } from '../domain/errors/errors.js';

/** The access rule returned something that is no answer. Its author has to read the log; clients get a 500. */
export class AccessRuleError extends Error {
  override readonly name = 'AccessRuleError';
}

/** What `allows()` of an access rule returned. Nothing that is wrong allows anything. */
export function ruleAnswer(answer: unknown): boolean | RuleFilter {
  if (typeof answer === 'boolean') return answer;
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    throw new AccessRuleError(
      `allows() of the access rule returned ${describeKind(answer)}, which allows nothing; return true, false or a filter such as { labels: { team: 'north' } }.`,
    );
  }
  try {
    return ruleFilter(answer, 'filter', DEFAULT_LIMITS);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new AccessRuleError(
      `allows() of the access rule returned a filter that is wrong, which allows nothing. ${error.message}`,
      { cause: error },
    );
  }
}

/** Never logs the value itself: it may be personal data. */
export function describeKind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}
