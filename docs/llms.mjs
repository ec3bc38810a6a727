// Writes llms.txt, an index of the pages in pages.json for language models, and llms-full.txt, all of them in one file.
// node docs/llms.mjs [folder]
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const BASE = 'https://github.com/agent-sessions/nestjs-agent-sessions/blob/main/';
const OPTIONAL = 'Project'; // a reader with little room may leave out what llms.txt calls Optional

const [, , folder = '.'] = process.argv;
const listed = JSON.parse(await readFile(new URL('pages.json', import.meta.url), 'utf8'));
const sections = await Promise.all(
  Object.entries(listed).map(async ([title, paths]) => ({
    title: title === OPTIONAL ? 'Optional' : title,
    listing: await Promise.all(Object.values(paths).map(pageOf)),
  })),
);
const [readme, ...pages] = sections.flatMap(({ listing }) => listing);
const lists = sections.map(({ title, listing }) => `## ${title}\n\n${entriesOf(listing)}`);

await mkdir(folder, { recursive: true });
await writeFile(
  join(folder, 'llms.txt'),
  `# ${titleOf(readme.text)}\n\n> ${firstSentences(readme.text)}\n\n${lists.join('\n\n')}\n`,
);
await writeFile(
  join(folder, 'llms-full.txt'),
  [readme, ...pages].map(({ path, text }) => `<!-- ${path} -->\n\n${text}`).join('\n'),
);

async function pageOf(path) {
  return { path, text: await readFile(path, 'utf8') };
}

function entriesOf(listing) {
  return listing
    .filter((page) => page !== readme)
    .map(({ path, text }) => `- [${titleOf(text)}](${BASE}${path}): ${firstSentences(text)}`)
    .join('\n');
}

function titleOf(text) {
  return /^# (.+)$/m.exec(text)?.[1] ?? '';
}

/** The first paragraph of a page, without its links. */
function firstSentences(text) {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '');
  const paragraph = prose.split(/\n\n+/).find((block) => /^[A-Z`[*]/.test(block)) ?? '';
  return paragraph
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}
