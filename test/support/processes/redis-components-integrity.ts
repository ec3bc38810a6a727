type Contents = ReadonlyMap<string, ReadonlyMap<string, string>>;

const OF_COMPONENTS = /^(\{@components-\d+\}):(component|items|sessions|expiring)(?::([^:]*))?(?::([^:]*))?$/;

export function isOfComponents(key: string): boolean {
  return OF_COMPONENTS.test(key);
}

/** Inconsistencies in the state of components, by the documented keys. Contents of lists are by position. */
export function problemsOfComponents(contents: Contents): string[] {
  return [...contents].flatMap(([key, content]) => {
    const [, base, kind, session = '', name = ''] = OF_COMPONENTS.exec(key) ?? [];
    const hash = contents.get(`${base}:component:${session}`);
    if (kind === 'component') return problemsOfSession(contents, `${base}`, session, content);
    if (kind === 'items') return hash?.has(`l:${decodeURIComponent(name)}`) ? [] : [`${key} belongs to no list`];
    if (kind !== 'sessions' && kind !== 'expiring') return [];
    const strays = [...content.keys()].filter((id) => !contents.has(`${base}:component:${encodeURIComponent(id)}`));
    return strays.map((id) => `${key} has ${id}, which does not exist`);
  });
}

function problemsOfSession(
  contents: Contents,
  base: string,
  session: string,
  hash: ReadonlyMap<string, string>,
): string[] {
  const problems: string[] = [];
  if (!hash.has('') || hash.size === 1) problems.push(`${session} has no expiry, or nothing else`);
  if (!contents.get(`${base}:sessions`)?.has(decodeURIComponent(session))) problems.push(`${session} is not listed`);
  for (const [field, head] of hash) {
    const name = field.slice(2);
    if (field.startsWith('v:') && !hash.has(`t:${name}`)) problems.push(`${session} has no text of ${name}`);
    if (!field.startsWith('l:')) continue;
    const found = contents.get(`${base}:items:${session}:${encodeURIComponent(name)}`)?.size ?? 0;
    if (found !== Number(head.split('\n')[1])) problems.push(`${session} has ${found} items of ${name}`);
  }
  return problems;
}
