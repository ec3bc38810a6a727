// Builds the page of the inspector into `dist/inspector/page`: scripts and styles with names of their content.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { copyPage } from './copy-page.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const sources = join(here, 'src');
const target = join(here, '../dist/inspector/page');

const options = {
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  charset: 'utf8',
  legalComments: 'none',
  write: false,
};

const { head, tail } = await copyPage(sources, options);
const { outputFiles, metafile } = await build({
  ...options,
  entryPoints: { main: join(sources, 'main.tsx'), styles: join(sources, 'styles.css') },
  outdir: target,
  // What is imported where it is needed is loaded then.
  splitting: true,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  // As texts, each is where it is used. An object would be a file that all others load.
  define: { 'COPY_PAGE.head': JSON.stringify(head), 'COPY_PAGE.tail': JSON.stringify(tail) },
  metafile: true,
});

await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
for (const { path, contents } of outputFiles) {
  const name = basename(path);
  if (!/\.(js|css)$/.test(name)) throw new Error(`The build made ${name}, which the inspector does not serve.`);
  await writeFile(join(target, name), contents);
}
const entries = Object.entries(metafile.outputs).filter(([, { entryPoint }]) => entryPoint !== undefined);
const names = Object.fromEntries(
  entries.map(([path]) => [basename(path).replace(/-[^-]+(?=\.\w+$)/, ''), basename(path)]),
);
await writeFile(join(target, 'names.json'), `${JSON.stringify(names)}\n`);
