import ts from 'typescript';

/** By path. */
const known = new Map<string, ts.SourceFile | undefined>();

/** A host that reads the declarations of packages once for all compilations of the docs: they are most of what these read. */
export function hostOfDeclarations(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (path, ...rest) => {
    if (!path.endsWith('.d.ts') && !path.endsWith('.d.mts')) return getSourceFile(path, ...rest);
    if (!known.has(path)) known.set(path, getSourceFile(path, ...rest));
    return known.get(path);
  };
  return host;
}

/** Gives their memory back: they are thousands. */
export function forgetDeclarations(): void {
  known.clear();
}
