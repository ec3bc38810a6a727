import { DEFAULT_SUMMARIZER, LONGEST_WAIT_SECONDS, type SummarizerSettings } from '../config/summarizer.js';
import { InvalidInputError } from '../sessions/domain/errors.js';
import { checkedSettings } from '../sessions/domain/settings.js';

/** With 0 of these, no summary could ever be written. */
const AT_LEAST_ONE = ['maxSummaryLength', 'maxInputLength', 'concurrency'] as const;

/** Settings with everything filled in, and none that makes no sense. */
export function checkedSummarizerSettings(given: Partial<SummarizerSettings>): SummarizerSettings {
  const { prompt, match, ...numbers } = given;
  const { match: matchByDefault, prompt: _prompt, ...defaults } = DEFAULT_SUMMARIZER;
  const settings = { ...checkedSettings(defaults, numbers, 'summarizer'), prompt, match: match ?? matchByDefault };
  for (const name of AT_LEAST_ONE) refuseUnless(settings[name] >= 1, 'must be a whole number from 1 on', name);
  refuseUnless(settings.timeoutSeconds > 0, 'must be more than 0', 'timeoutSeconds');
  for (const name of ['timeoutSeconds', 'shutdownSeconds'] as const) {
    refuseUnless(settings[name] <= LONGEST_WAIT_SECONDS, `must be at most ${LONGEST_WAIT_SECONDS}`, name);
  }
  refuseUnless(['any', 'all'].includes(settings.match), 'must be any or all', 'match');
  return settings;
}

function refuseUnless(isFine: boolean, problem: string, name: keyof SummarizerSettings): void {
  if (!isFine) throw new InvalidInputError(problem, `summarizer.${name}`);
}
