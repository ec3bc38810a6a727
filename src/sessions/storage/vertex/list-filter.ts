import { APP_LABEL } from './engines.js';

/** The filter of a list, in the language of Google's APIs. Undefined: all sessions. */
export function listFilter(userId: string | undefined, appLabel: string | undefined): string | undefined {
  const terms = [
    ...(userId === undefined ? [] : [`user_id=${quoted(userId)}`]),
    ...(appLabel === undefined ? [] : [`labels.${APP_LABEL}=${quoted(appLabel)}`]),
  ];
  return terms.length === 0 ? undefined : terms.join(' AND ');
}

/** A string of a filter. The backslash comes first, since escaping adds more of them. */
function quoted(text: string): string {
  return `"${text.replaceAll('\\', String.raw`\\`).replaceAll('"', String.raw`\"`)}"`;
}
