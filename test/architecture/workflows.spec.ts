import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly uses?: string;
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Updates {
  readonly updates: readonly {
    readonly 'package-ecosystem': string;
    readonly directory: string;
    readonly ignore?: readonly { readonly 'dependency-name': string }[];
  }[];
}

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const FOLDER = '.github/workflows';
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const workflows = Object.fromEntries(
  readdirSync(FOLDER).map((file) => [file, parse(readFileSync(`${FOLDER}/${file}`, 'utf8')) as Workflow]),
);
const jobs = Object.entries(workflows).flatMap(([file, workflow]) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({ title: `${file}, ${name}`, job })),
);

describe.each(jobs)('the workflow $title', ({ job }) => {
  const steps = job.steps ?? [];

  it('ends in time, or is another workflow that may be called', () => {
    const called = job.uses === undefined ? undefined : workflows[job.uses.split('/').at(-1) ?? ''];
    expect(job['timeout-minutes'] ?? (called && 'workflow_call' in called.on)).toBeTruthy();
  });

  it('takes actions by their commit', () => {
    const loose = steps.flatMap(({ uses = [] }) => uses).filter((uses) => !/^[\w-]+\/[\w-]+@[\da-f]{40}$/.test(uses));
    expect(loose).toEqual([]);
  });

  it('runs scripts and files that are there', () => {
    const commands = steps.flatMap(({ run = '' }) => run.split('\n'));
    const scripts = commands.flatMap((command) => /^npm run ([\w:]+)/.exec(command)?.[1] ?? []);
    expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([]);
    const files = commands.flatMap((command) => /^(?:node|bash|npx jest) ([\w./-]+)/.exec(command)?.[1] ?? []);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    expect(steps.filter(({ run, uses }) => (run === undefined) === (uses === undefined))).toEqual([]);
  });
});

it.each(Object.keys(workflows))('%s may only read, unless a job says more', (file) => {
  expect(workflows[file]?.permissions).toEqual({ contents: 'read' });
});

it('publishes with provenance what has passed CI and an audit', () => {
  const { publish, ...others } = workflows['release.yml']?.jobs ?? {};
  expect(others[publish?.needs ?? '']?.uses).toBe('./.github/workflows/ci.yml');
  expect(publish?.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
  const commands = publish?.steps?.map(({ run = '' }) => run) ?? [];
  expect(commands.at(-1)).toMatch(/^npm publish --provenance\b/);
  expect(commands.indexOf('npm audit --omit=dev --audit-level=high')).toBeGreaterThan(commands.indexOf('npm ci'));
  // `npm publish` packs what this built.
  expect(manifest.scripts.prepack).toContain('npm run build');
});

it('has updates proposed for each kind of file that names versions, but not for what is pinned', () => {
  const { updates } = parse(readFileSync('.github/dependabot.yml', 'utf8')) as Updates;
  const kinds = {
    npm: 'package.json',
    'github-actions': FOLDER,
    docker: 'Dockerfile',
    'docker-compose': 'compose.yaml',
  };
  expect(new Set(updates.map((update) => update['package-ecosystem']))).toEqual(new Set(Object.keys(kinds)));
  for (const { 'package-ecosystem': kind, directory } of updates) {
    expect(existsSync(`.${directory}/${Object.entries(kinds).find(([name]) => name === kind)?.[1]}`)).toBe(true);
  }
  const ignored = updates[0]?.ignore?.map((one) => one['dependency-name']);
  const pinned = Object.entries(manifest.devDependencies).flatMap(([name, range]) => (/^\d/.test(range) ? name : []));
  expect(ignored).toEqual(expect.arrayContaining(pinned));
});
