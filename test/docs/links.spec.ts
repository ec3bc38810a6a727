import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const FOLDERS = ['bench', 'docs', 'examples', 'src', 'test', '.github'];
const pages = [
  ...readdirSync('.'),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ),
].filter((path) => path.endsWith('.md') && !path.includes('node_modules'));

/** What a link of a page leads to, without code blocks and addresses of the web. */
function linksIn(page: string): string[] {
  const text = readFileSync(page, 'utf8')
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '');
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(page: string): Set<string> {
  const text = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function problemOf(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(target)) return `${link} leads to no file`;
  if (anchor === undefined || !target.endsWith('.md') || anchorsOf(target).has(anchor)) return undefined;
  return `${link}: ${relative('.', target)} has no heading of this name`;
}

describe('Links of the pages', () => {
  it('finds the pages', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', join('docs', 'rest.md')]));
  });

  it.each(pages)('%s leads to files and headings that exist', (page) => {
    expect(linksIn(page).flatMap((link) => problemOf(page, link) ?? [])).toEqual([]);
  });
});
