const HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/^(?:mysql|mariadb|postgres|postgresql|sqlite)(\+\w+):/i, 'Leave out …: it names a driver of Python.'],
  [/^jdbc:/i, 'Leave out jdbc: and put user and password before the host.'],
  [/^sqlite3?:\/{3}\.{1,2}\//i, 'For a path from the current folder write sqlite:./path.'],
  [/^(?:file|libsql|sqlite3):/i, 'For a SQLite file write sqlite:path.'],
];

/**
 * What to write instead of a database address as other systems have it, such as SQLAlchemy and so ADK for Python. `undefined` for any
 * other text. Shows nothing of the address but the name of its driver.
 *
 * @example foreignUrlHint('mysql+pymysql://root@db/shop'); // 'Leave out +pymysql: it names a driver of Python.'
 */
export function foreignUrlHint(url: unknown): string | undefined {
  const found = HINTS.find(([pattern]) => typeof url === 'string' && pattern.test(url));
  return found?.[1].replace('…', found[0].exec(String(url))?.[1] ?? '');
}
