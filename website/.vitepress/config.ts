import { createRequire } from 'node:module';
import { defineConfig } from 'vitepress';

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
    sidebar: [
      {
        text: 'Start',
        items: [
          item('Overview', '/'),
          item('Architecture', '/docs/architecture'),
          item('Configuration', '/docs/configuration'),
        ],
      },
      {
        text: 'Stores',
        items: [
          item('Which store', '/docs/stores'),
          item('In memory', '/docs/providers/in-memory'),
          item('SQLite', '/docs/providers/sqlite'),
          item('MySQL and MariaDB', '/docs/providers/mysql'),
          item('PostgreSQL', '/docs/providers/postgresql'),
          item('Redis', '/docs/providers/redis'),
        ],
      },
      {
        text: 'Transports',
        items: [item('REST', '/docs/rest'), item('GraphQL', '/docs/graphql'), item('Errors', '/docs/errors')],
      },
      { text: 'Summaries', items: [item('Summaries', '/docs/summaries'), item('Models', '/docs/summary-models')] },
      {
        text: 'Production',
        items: [
          item('Operations', '/docs/operations'),
          item('Security', '/SECURITY'),
          item('Benchmarks', '/bench/README'),
        ],
      },
      { text: 'Building blocks', items: [item('Leases', '/docs/leases'), item('Agenda', '/docs/agenda')] },
      { text: 'Project', items: [item('Decisions', '/docs/decisions/README'), item('Contributing', '/CONTRIBUTING')] },
    ],
  },
});

function item(text: string, link: string) {
  return { text, link };
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
