import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import absolutePath from 'swagger-ui-dist/absolute-path.js';

/** A file as it is sent. */
export interface DocsFile {
  readonly type: string;
  readonly content: string | Buffer;
}

/** What the page needs of Swagger UI; nothing comes from elsewhere. */
export const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

export async function assetOf(name: string): Promise<DocsFile> {
  return { type: ASSETS[name] ?? 'application/octet-stream', content: await readFile(join(absolutePath(), name)) };
}

/** @param folder where the other files are, as seen from the page */
export function docsPage(title: string, folder: string): DocsFile {
  const content = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>${title.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="${folder}/favicon-32x32.png" />
    <link rel="stylesheet" href="${folder}/swagger-ui.css" />
  </head>
  <body>
    <div id="docs"></div>
    <script src="${folder}/swagger-ui-bundle.js"></script>
    <script src="${folder}/start.js"></script>
  </body>
</html>
`;
  return { type: 'text/html; charset=utf-8', content };
}

/** A file of its own, so that a strict Content-Security-Policy lets it run. Without a validator: that would be a foreign server. */
export function startScript(documentUrl: string): DocsFile {
  const content = `const url = new URL(${JSON.stringify(documentUrl)}, document.currentScript.src).href;
SwaggerUIBundle({ url, dom_id: '#docs', deepLinking: true, validatorUrl: null, queryConfigEnabled: false });
`;
  return { type: 'text/javascript; charset=utf-8', content };
}
