import { requireOfPackage } from './own-package.js';

/** The app that lacks a package. */
interface Installing {
  /** The versions that this package works with, by package: `^6.0.0 || ^12.0.0`. */
  readonly supported: Readonly<Record<string, string>>;
  readonly nestMajor: number;
  readonly nodeMajor: number;
}

interface Manifest {
  readonly version: string;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** Their newest majors need Node 22. */
const NEED_NODE_22: ReadonlySet<string> = new Set(['ai', '@ai-sdk/openai-compatible']);

/**
 * How to install an optional package, in the newest version that fits this package, the app's Nest and its Node.
 *
 * @example installCommand('@nestjs/schedule'); // in an app of Nest 11: 'npm install @nestjs/schedule@6'
 */
export function installCommand(name: string): string {
  return `npm install ${versionedName(name, readInstalling())}`;
}

/**
 * The name of a package, with the major that fits. Packages of Nest have an alternative for each of its majors.
 *
 * @example versionedName('ioredis', { supported: { ioredis: '^5.3.0' }, nestMajor: 12, nodeMajor: 24 }); // 'ioredis@5'
 */
export function versionedName(name: string, { supported, nestMajor, nodeMajor }: Installing): string {
  const ranges = supported[name]?.split(' || ') ?? [];
  const isOld = name.startsWith('@nestjs/')
    ? !supported['@nestjs/core']?.endsWith(`^${nestMajor}.0.0`)
    : NEED_NODE_22.has(name) && nodeMajor < 22;
  const range = isOld ? ranges[0] : ranges.at(-1);
  const version = /\^(0\.\d+|\d+)/.exec(range ?? '')?.[1];
  return version === undefined ? name : `${name}@${version}`;
}

function readInstalling(): Installing {
  const nodeMajor = Number.parseInt(process.versions.node);
  try {
    const { peerDependencies: supported } = readManifest('nestjs-agent-sessions');
    return { supported, nestMajor: Number.parseInt(readManifest('@nestjs/core').version), nodeMajor };
  } catch {
    // An app in one bundle has no `package.json` of its packages.
    return { supported: {}, nestMajor: 0, nodeMajor };
  }
}

/** What the `package.json` of an installed package says. */
function readManifest(name: string): Manifest {
  return requireOfPackage()(`${name}/package.json`) as Manifest;
}
