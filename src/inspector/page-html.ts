import { pageHeaders } from '../sessions/transport/http-defaults.js';
import { escapedHtml } from '../sessions/transport/served-page.js';

/** Nothing inline, nothing from elsewhere, and no way to make markup of text. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

export const PAGE_HEADERS = { ...pageHeaders(), 'Content-Security-Policy': POLICY };

/** @param base the URL of the files, with a slash at its end */
export function inspectorPage(base: string, script: string, style: string): string {
  return `<!doctype html>
<html lang="en" data-theme="auto">
  <head>
    <meta charset="utf-8" />
    <title>Agent Sessions – Inspector</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <base href="${escapedHtml(base)}" />
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="files/${escapedHtml(style)}" />
    <script type="module" src="files/${escapedHtml(script)}"></script>
  </head>
  <body>
    <div id="inspector"></div>
    <noscript>The inspector needs JavaScript.</noscript>
  </body>
</html>
`;
}

/**
 * Where the page is for its reader.
 *
 * @param url of the request, as this server sees it
 * @param prefix that a proxy has taken away: `X-Forwarded-Prefix`
 */
export function findPageBase(url: string, prefix: unknown): string {
  const [path = ''] = url.split('?');
  const given = typeof prefix === 'string' && /^(\/[\w.~-]+)+\/?$/.test(prefix) ? prefix.replace(/\/$/, '') : '';
  return `${given}${path.replace(/\/+$/, '')}/`;
}
