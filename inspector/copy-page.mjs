// Builds the page of a copy, as one text before its data and one after them: style and script are in it, whatever they import.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { build } from 'esbuild';

/** @returns {Promise<{ head: string, tail: string }>} */
export async function copyPage(sources, options) {
  const { outputFiles } = await build({
    ...options,
    entryPoints: { copy: join(sources, 'copy/main.tsx'), styles: join(sources, 'styles.css') },
    outdir: sources,
    splitting: false,
  });
  if (outputFiles.length !== 2) {
    const names = outputFiles.map(({ path }) => path);
    throw new Error(`A copy has one script and one style, not ${names.join(', ')}.`);
  }
  const [script, style] = ['copy.js', 'styles.css'].map((name) => {
    const { text } = outputFiles.find(({ path }) => path.endsWith(name));
    if (/<\/(script|style)|<!--/i.test(text))
      throw new Error(`${name} cannot stand in HTML: it would end its element.`);
    return text;
  });
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
  const head = `<!doctype html>
<html lang="en" data-theme="auto">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <title>Agent Sessions – a copy of a session</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="data:," />
    <style>${style}</style>
  </head>
  <body>
    <div id="inspector"></div>
    <noscript>This page needs JavaScript.</noscript>
    <script id="copy" type="application/json">`;
  const tail = `</script>
    <script type="module">${script}</script>
  </body>
</html>
`;
  return { head, tail };
}

function hashOf(text) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
