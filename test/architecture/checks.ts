import { basename } from 'node:path';
import { type Layer, PUBLIC_NAMES } from './rules.js';
import { type Import, type SourceFile, isPackage, targetOf } from './source-files.js';

/** Each check answers with one readable line per violation. */
export type Violations = string[];

/** @param entries the files that the package exports */
export function findForbiddenImports(
  files: readonly SourceFile[],
  layers: readonly Layer[],
  entries: ReadonlySet<string> = new Set(),
): Violations {
  return files.flatMap((file) => {
    const layer = layerOf(file.path, layers);
    if (!layer) return [`${file.path} belongs to no layer: give it one in test/architecture/rules.ts`];
    return file.imports.flatMap((each) => {
      const reason = isPackage(each.specifier)
        ? reasonAgainstPackage(layer, each.specifier)
        : reasonAgainstFile(layer, targetOf(file.path, each.specifier), layers, entries);
      return reason ? [`${at(file, each)} imports '${each.specifier}': ${reason}`] : [];
    });
  });
}

/** An optional peer may be imported in its own folder only. */
export function findStrayPeers(
  files: readonly SourceFile[],
  folders: Readonly<Record<string, string | readonly string[]>>,
): Violations {
  return files.flatMap((file) =>
    file.imports.flatMap((each) => {
      const folder = isPackage(each.specifier) ? folders[targetOf(file.path, each.specifier)] : undefined;
      if (folder === undefined) return [];
      const allowed = typeof folder === 'string' ? [folder] : folder;
      if (allowed.some((place) => file.path.startsWith(place))) return [];
      const places = allowed.join(' and ');
      return [`${at(file, each)} imports '${each.specifier}': only ${places} may import this optional peer`];
    }),
  );
}

export function findPeersReached(
  files: readonly SourceFile[],
  entries: readonly string[],
  peers: readonly string[],
): Violations {
  const graph = loadedGraphOf(files);
  return entries.flatMap((entry) =>
    peers.flatMap((peer) => {
      const path = shortestPath(graph, entry, peer);
      return path ? [`${entry} must not need the optional peer ${peer}: ${path.join(' -> ')}`] : [];
    }),
  );
}

/** Those of these packages that an entry point loads. */
export function peersLoaded(files: readonly SourceFile[], entry: string, peers: readonly string[]): string[] {
  const graph = loadedGraphOf(files);
  return peers.filter((peer) => shortestPath(graph, entry, peer) !== undefined);
}

/** Type-only imports count too: a cycle of types is still two files that cannot be read apart. */
export function findCycles(files: readonly SourceFile[]): Violations {
  const graph = graphOf(files);
  return files.flatMap(({ path }) => {
    const cycle = shortestPath(graph, path, path);
    const isFirstOfCycle = cycle?.every((other) => path <= other);
    return cycle && isFirstOfCycle ? [`cycle: ${cycle.join(' -> ')}`] : [];
  });
}

export function findVagueNames(files: readonly SourceFile[], vagueNames: readonly string[]): Violations {
  return files.flatMap(({ path }) => {
    const words = path.split('/').map((part) => basename(part, '.ts'));
    const vague = words.find((word) => vagueNames.includes(word));
    return vague === undefined ? [] : [`${path} is named '${vague}', which says nothing: name what it does`];
  });
}

export function findLongFiles(files: readonly SourceFile[], maxLines: number): Violations {
  return files
    .filter(({ lines }) => lines > maxLines)
    .map(({ path, lines }) => `${path} has ${lines} lines, ${maxLines} are allowed: split it`);
}

/** What tries again uses the common retry, unless a reason stands for its file. A reason without need is a violation as well. */
export function findOwnRetries(files: readonly SourceFile[], reasons: Readonly<Record<string, string>>): Violations {
  const own = files.filter(({ retryLines }) => retryLines.length > 0);
  const paths = new Set(own.map(({ path }) => path));
  return [
    ...own
      .filter(({ path }) => !Object.hasOwn(reasons, path))
      .map(
        ({ path, retryLines }) =>
          `${path}:${retryLines.join(', ')} tries again in its own way: use sessions/domain/process/retry-overtaken.ts or ` +
          '`sessions.change`, or give a reason in test/architecture/rules.ts',
      ),
    ...Object.keys(reasons)
      .filter((path) => !paths.has(path))
      .map((path) => `${path} has a reason to try again in its own way, but does not: remove the reason`),
  ];
}

interface OwnLayer {
  readonly name: string;
  readonly rule: Layer;
  /** What `rule.files` captures. */
  readonly folder: string;
}

function layerOf(path: string, layers: readonly Layer[]): OwnLayer | undefined {
  const rule = layers.find(({ files }) => files.test(path));
  return rule && { name: path.replace(rule.files, rule.name), rule, folder: rule.files.exec(path)?.[1] ?? '' };
}

function reasonAgainstFile(
  from: OwnLayer,
  target: string,
  layers: readonly Layer[],
  entries: ReadonlySet<string>,
): string | undefined {
  const to = layerOf(target, layers);
  if (!to) return 'that file belongs to no layer of src';
  const { mayImport } = from.rule;
  if (to.name === from.name) return reasonAgainstFolder(from, to);
  if (mayImport === 'everything' || mayImport.includes(to.name)) return undefined;
  if (mayImport.includes(PUBLIC_NAMES) && entries.has(target) && to.rule !== from.rule) return undefined;
  return `${from.name} may import ${listOf(mayImport)}, not ${to.name}`;
}

function reasonAgainstFolder(from: OwnLayer, to: OwnLayer): string | undefined {
  const order = from.rule.foldersInOrder;
  if (!order || from.folder === to.folder) return undefined;
  const place = order.indexOf(from.folder);
  if (place < 0) return `${from.folder} has no place among the folders of ${from.name}`;
  if (order.slice(0, place).includes(to.folder)) return undefined;
  return `${from.folder} may import ${listOf(order.slice(0, place))}, not ${to.folder}`;
}

function reasonAgainstPackage({ name, rule }: OwnLayer, specifier: string): string | undefined {
  if (!rule.packages || rule.packages.test(specifier)) return undefined;
  return `${name} is kept free of packages`;
}

function listOf(names: readonly string[]): string {
  return names.length > 0 ? `only ${names.join(', ')}` : 'no other layer';
}

function at(file: SourceFile, { line }: Import): string {
  return `${file.path}:${line}`;
}

type Graph = ReadonlyMap<string, readonly string[]>;

function graphOf(files: readonly SourceFile[]): Graph {
  return new Map(
    files.map(({ path, imports }) => [path, imports.map(({ specifier }) => targetOf(path, specifier))] as const),
  );
}

/** Dynamic imports do not count: their packages are only needed when the code runs. */
function loadedGraphOf(files: readonly SourceFile[]): Graph {
  return graphOf(files.map((file) => ({ ...file, imports: file.imports.filter(({ isDynamic }) => !isDynamic) })));
}

/** The shortest chain of imports that leaves `from` and arrives at `to`, both named. */
function shortestPath(graph: Graph, from: string, to: string): string[] | undefined {
  const chains = [[from]];
  const seen = new Set<string>();
  for (const chain of chains) {
    for (const next of graph.get(chain.at(-1) ?? from) ?? []) {
      if (next === to) return [...chain, next];
      if (seen.has(next)) continue;
      seen.add(next);
      chains.push([...chain, next]);
    }
  }
  return undefined;
}
