import { createRequire } from 'node:module';
import { defineConfig } from 'vitepress';
import pages from '../../docs/pages.json' with { type: 'json' };

const REPOSITORY = 'https://github.com/agent-sessions/nestjs-agent-sessions';
const PAGES = ['docs', 'bench'];
const packages = createRequire(import.meta.url);
const ROOT_PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

export default defineConfig({
  title: 'Agent Sessions for NestJS',
  description: 'Stores the conversations of AI agents in a NestJS app.',
  // The pages are those of the repository, so that each fact is written once and all relative links work in both places.
  srcDir: '..',
  srcExclude: ['{node_modules,website,src,test,examples,demo,dist,coverage,.github}/**'],
  outDir: './dist',
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  // What else a page links to is a file of the repository.
  ignoreDeadLinks: [(link) => !isPage(link)],
  vite: {
    resolve: {
      // The pages lie outside of this folder, and so do not find its packages by themselves.
      alias: [
        { find: /^vue$/, replacement: packages.resolve('vue/dist/vue.runtime.esm-bundler.js') },
        { find: /^vue\/server-renderer$/, replacement: packages.resolve('vue/server-renderer') },
      ],
    },
  },
  markdown: {
    config(markdown) {
      showDiagrams(markdown);
      linkToRepository(markdown);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/docs/stores' },
      { text: 'Decisions', link: '/docs/decisions/README' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
    sidebar: Object.entries(pages).map(([text, section]) => ({
      text,
      items: Object.entries(section).map(([label, path]) => ({ text: label, link: linkOf(path) })),
    })),
  },
});

/** The address of a page on the site. */
function linkOf(path: string): string {
  return path === 'README.md' ? '/' : `/${path.replace(/\.md$/, '')}`;
}

function isPage(link: string): boolean {
  return link.endsWith('.md') && [...PAGES, ...ROOT_PAGES].some((page) => link.includes(page));
}

type Markdown = Parameters<NonNullable<NonNullable<Parameters<typeof defineConfig>[0]['markdown']>['config']>>[0];

/** Blocks of mermaid become diagrams, which the browser draws. */
function showDiagrams(markdown: Markdown): void {
  const { fence } = markdown.renderer.rules;
  markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
    const { info, content } = tokens[index]!;
    if (info.trim() === 'mermaid') return `<Diagram code="${encodeURIComponent(content)}" />`;
    return fence?.(tokens, index, options, env, self) ?? '';
  };
}

/** Links to source files lead to the repository. */
function linkToRepository(markdown: Markdown): void {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    const page = new URL(String(env.relativePath), 'file:///');
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.attrGet('href');
      if (token.type !== 'link_open' || !href || /^[a-z]+:|^#/.test(href)) continue;
      const { pathname, hash } = new URL(href, page);
      if (pathname === '/README.md') token.attrSet('href', `/${hash}`);
      if (pathname.endsWith('.md') && !/^\/(src|examples|test)\//.test(pathname)) continue;
      token.attrSet('href', `${REPOSITORY}/blob/main${pathname}`);
    }
  });
}
