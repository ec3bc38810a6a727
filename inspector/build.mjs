// Builds the page of the inspector into `dist/inspector/page`: scripts and styles with names of their content, each also compressed.
import { createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, '../dist/inspector/page');

const { outputFiles } = await build({
  entryPoints: { main: join(here, 'src/main.tsx'), styles: join(here, 'src/styles.css') },
  outdir: target,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  charset: 'utf8',
  legalComments: 'none',
  write: false,
});

await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
const names = {};
for (const { path, contents } of outputFiles) {
  const [, stem, extension] = /([^/\\]+)\.(js|css)$/.exec(path) ?? [];
  if (stem === undefined) throw new Error(`The build made ${path}, which the inspector does not serve.`);
  const digest = createHash('sha256').update(contents).digest('hex').slice(0, 12);
  const name = `${stem}-${digest}.${extension}`;
  names[`${stem}.${extension}`] = name;
  await writeFile(join(target, name), contents);
  await writeFile(join(target, `${name}.gz`), gzipSync(contents, { level: 9 }));
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
  await writeFile(join(target, `${name}.br`), brotliCompressSync(contents, { params: quality }));
}
await writeFile(join(target, 'names.json'), `${JSON.stringify(names)}\n`);
