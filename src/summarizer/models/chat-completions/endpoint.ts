import { SummaryModelError } from '../summary-model-error.js';

/** `{baseUrl}/chat/completions`; a query, such as the `api-version` of Azure, stays. */
export function completionsUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw misconfigured('baseUrl must be an http or https address, such as https://api.openai.com/v1.');
  }
  if (url.username !== '' || url.password !== '') {
    throw misconfigured('baseUrl must hold no user and no password. Put the key into apiKey, or send a header.');
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
  url.hash = '';
  return url.href;
}

/** Checked once: what `Headers` says of a bad value repeats it, and the value may be the key. */
export function headersFor(apiKey: string | undefined, own: Readonly<Record<string, string>> = {}): Headers {
  try {
    const headers = new Headers({ 'Content-Type': 'application/json', Accept: 'application/json' });
    if (apiKey !== undefined) headers.set('Authorization', `Bearer ${apiKey}`);
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    return headers;
  } catch {
    throw misconfigured('apiKey or headers hold what no header may hold, such as a line break.');
  }
}

function misconfigured(message: string): SummaryModelError {
  return new SummaryModelError('MISCONFIGURED', message);
}
