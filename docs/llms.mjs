// Writes llms.txt, an index of the documentation for language models, and llms-full.txt, all pages in one file.
// node docs/llms.mjs [folder]
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const BASE = 'https://github.com/agent-sessions/nestjs-agent-sessions/blob/main/';
const SECTIONS = {
  Start: ['docs/architecture.md', 'docs/configuration.md', 'docs/errors.md'],
  Stores: [
    'docs/stores.md',
    'docs/providers/in-memory.md',
    'docs/providers/sqlite.md',
    'docs/providers/mysql.md',
    'docs/providers/postgresql.md',
    'docs/providers/redis.md',
  ],
  Transports: ['docs/rest.md', 'docs/graphql.md'],
  Summaries: ['docs/summaries.md', 'docs/summary-models.md'],
  Production: ['docs/operations.md', 'SECURITY.md', 'bench/README.md'],
  'Building blocks': ['docs/leases.md', 'docs/agenda.md'],
  Optional: ['docs/decisions/README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
};

const [, , folder = '.'] = process.argv;
const readme = await readFile('README.md', 'utf8');
const sections = await Promise.all(
  Object.entries(SECTIONS).map(async ([title, paths]) => ({ title, pages: await Promise.all(paths.map(pageOf)) })),
);
const lists = sections.map(({ title, pages }) => `## ${title}\n\n${pages.map(entryOf).join('\n')}`);
const pages = sections.flatMap((section) => section.pages);

await mkdir(folder, { recursive: true });
await writeFile(
  join(folder, 'llms.txt'),
  `# ${titleOf(readme)}\n\n> ${firstSentences(readme)}\n\n${lists.join('\n\n')}\n`,
);
await writeFile(
  join(folder, 'llms-full.txt'),
  [{ path: 'README.md', text: readme }, ...pages].map(({ path, text }) => `<!-- ${path} -->\n\n${text}`).join('\n'),
);

async function pageOf(path) {
  return { path, text: await readFile(path, 'utf8') };
}

function entryOf({ path, text }) {
  return `- [${titleOf(text)}](${BASE}${path}): ${firstSentences(text)}`;
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
