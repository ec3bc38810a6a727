/** A module to import, and how. */
export interface ImportedModule {
  readonly name: string;
  /** The package that has it. */
  readonly from: string;
  /** What stands in the list of imports. */
  readonly code: string;
}

/**
 * The source of a Nest module that imports one more. `undefined` if it has no `@Module({ … })`, or if its `imports` are not a list.
 *
 * @example withImportedModule('@Module({}) class A {}', { name: 'B', from: 'b', code: 'B.forRoot()' });
 */
export function withImportedModule(source: string, { name, from, code }: ImportedModule): string | undefined {
  const text = withoutTexts(source);
  const opening = /@Module\s*\(\s*\{/.exec(text);
  if (!opening) return undefined;
  const start = opening.index + opening[0].length;
  const place = listOfImports(text, start);
  if (place === undefined) return undefined;
  const changed = source.slice(0, place.at) + insertion(text, place, code) + source.slice(place.at);
  const first = /^import\b/m.exec(text)?.index ?? 0;
  const end = source.includes('\r\n') ? '\r\n' : '\n';
  const quoted = /from "/.test(source) ? `"${from}"` : `'${from}'`;
  return `${changed.slice(0, first)}import { ${name} } from ${quoted};${end}${changed.slice(first)}`;
}

interface Place {
  readonly at: number;
  /** Whether there is no list yet. */
  readonly isNew: boolean;
}

/** Whether the source names this in its code. */
export function isNamedIn(source: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(withoutTexts(source));
}

/**
 * Where the list of imports begins, or where it has to be. `undefined` if it is something else than a list, or if something spread may have
 * another one.
 */
function listOfImports(text: string, start: number): Place | undefined {
  let depth = 0;
  let list: Place | undefined;
  for (let at = start; at < text.length; at++) {
    if (depth === 0) {
      if (text.startsWith('...', at)) return undefined;
      const named = /^(?:imports|(['"])imports\1)\s*(?:(:\s*\[)|[:,}])/.exec(text.slice(at));
      if (named && /[\s,{]/.test(text[at - 1] ?? '')) {
        if (named[2] === undefined) return undefined;
        list = { at: at + named[0].length, isNew: false };
      }
    }
    if ('([{'.includes(text[at] ?? '')) depth++;
    if (')]}'.includes(text[at] ?? '') && --depth < 0) return list ?? { at: start, isNew: true };
  }
  return undefined;
}

/** The code as the first item of the list, laid out like the next one. */
function insertion(text: string, { at, isNew }: Place, code: string): string {
  const rest = text.slice(at);
  if (isNew) return `${findLineSeparator(rest)}imports: [${code}],`;
  return /^\s*\]/.test(rest)
    ? code
    : `${findLineSeparator(rest, '')}${code},${findLineSeparator(rest, '') === '' ? ' ' : ''}`;
}

/** The end of this line and the indentation of the next one, if nothing else is left in this one. */
function findLineSeparator(rest: string, otherwise = ' '): string {
  return /^[ \t]*(\r?\n[ \t]*)/.exec(rest)?.[1] ?? otherwise;
}

const TEXTS = /\/\/.*|\/\*[^]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

/** The source with comments and texts blanked, except short names in quotes, so that brackets are code. Places stay the same. */
function withoutTexts(source: string): string {
  return source.replaceAll(TEXTS, (found) => (/^['"]\w+['"]$/.test(found) ? found : found.replaceAll(/[^\n\r]/g, ' ')));
}
